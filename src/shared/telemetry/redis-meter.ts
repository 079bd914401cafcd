import type { Metrics } from "./metrics.ts";
import type { CounterSeries, HistogramSeries } from "./series.ts";

/** Operations whose latency says something of the path; others would wait for whole scans. */
const TIMED = ["admit", "lookUpKey", "hold", "charge", "renew", "close", "forget", "recordRequest", "timeMs"];

/** Times the answers of the store's operations and counts those that failed. */
export class RedisMeter {
  readonly #series: ReadonlyMap<
    string,
    { readonly latency: HistogramSeries; readonly errors: CounterSeries }
  >;

  constructor({ redisLatency, redisErrors }: Pick<Metrics, "redisLatency" | "redisErrors">) {
    this.#series = new Map(
      TIMED.map((operation) => {
        const latency = redisLatency.series({ operation });
        const errors = redisErrors.series({ operation });
        return [operation, { latency, errors }] as const;
      }),
    );
  }

  /** An answer came, was an error, or did not come in time. */
  ended(operation: string, durationMs: number, isFailed: boolean): void {
    const series = this.#series.get(operation);
    series?.latency.observe(durationMs / 1000);
    if (isFailed) series?.errors.inc();
  }
}
