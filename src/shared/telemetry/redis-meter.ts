import type { Metrics } from "./metrics.ts";
import type { CounterSeries, HistogramSeries } from "./series.ts";

/** Operations whose latency matters on the request path; others include whole scans. */
const TIMED = ["admit", "lookUpKey", "hold", "charge", "renew", "close", "forget", "recordRequest", "timeMs"];

/** Measures the latency of the store's operations and counts failures. */
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

  /** Call after a reply, an error or a timeout. */
  ended(operation: string, durationMs: number, isFailed: boolean): void {
    const series = this.#series.get(operation);
    series?.latency.observe(durationMs / 1000);
    if (isFailed) series?.errors.inc();
  }
}
