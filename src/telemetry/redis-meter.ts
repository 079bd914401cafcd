import type { Counter, Histogram } from "prom-client";
import type { Metrics } from "./metrics.ts";

/** Operations whose latency says something of the path; others would wait for whole scans. */
const TIMED = ["admit", "lookUpKey", "hold", "charge", "renew", "close", "forget", "recordRequest", "timeMs"];

/** Times the answers of the store's operations and counts those that failed. */
export class RedisMeter {
  readonly #children: ReadonlyMap<
    string,
    { readonly latency: Histogram.Internal<string>; readonly errors: Counter.Internal }
  >;

  constructor({ redisLatency, redisErrors }: Pick<Metrics, "redisLatency" | "redisErrors">) {
    this.#children = new Map(
      TIMED.map((operation) => {
        const latency = redisLatency.labels({ operation });
        const errors = redisErrors.labels({ operation });
        errors.inc(0);
        return [operation, { latency, errors }] as const;
      }),
    );
  }

  /** An answer came, was an error, or did not come in time. */
  ended(operation: string, durationMs: number, isFailed: boolean): void {
    const children = this.#children.get(operation);
    children?.latency.observe(durationMs / 1000);
    if (isFailed) children?.errors.inc();
  }
}
