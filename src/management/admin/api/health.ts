/** Health of models, keys and upstreams: success, latency and speed of the requests that are still listed. */
import type { RecentRequest } from "../../../shared/stored/reporting.ts";

/** Returns whether the request failed at its upstream; null if that is unknown: its client or its worker left. */
export function isFailed({ status, errorCode }: Pick<RecentRequest, "status" | "errorCode">): boolean | null {
  if (status === null || status === 499) return null;
  // A 4xx of the upstream is a response, not a failure.
  return status >= 500 || (errorCode !== null && status < 400);
}

/** Figures of the requests of one row. */
export class HealthTally {
  #judged = 0;
  #failed = 0;
  #outputTokens = 0;
  #generatedMs = 0;
  readonly #durationsMs: number[] = [];
  readonly #firstTokensMs: number[] = [];

  add(request: RecentRequest): void {
    const failed = isFailed(request);
    if (failed === null) return;
    this.#judged += 1;
    if (failed) this.#failed += 1;
    const { timeline } = request.trace;
    if (failed || timeline === null || (request.status ?? 0) >= 400) return;
    const { endMs, firstTokenMs, routedMs } = timeline;
    this.#durationsMs.push(endMs);
    if (firstTokenMs !== null) this.#firstTokensMs.push(firstTokenMs);
    this.#outputTokens += request.outputTokens;
    this.#generatedMs += endMs - (routedMs ?? 0);
  }

  /** Formats the figures for the API. */
  format() {
    return {
      judged_requests: this.#judged,
      failed_requests: this.#failed,
      duration_ms: percentilesOf(this.#durationsMs),
      first_token_ms: percentilesOf(this.#firstTokensMs),
      output_tokens_per_second:
        this.#generatedMs === 0 ? null : Math.round((10_000 * this.#outputTokens) / this.#generatedMs) / 10,
    };
  }
}

function percentilesOf(values: number[]) {
  if (values.length === 0) return null;
  const sorted = values.toSorted((left, right) => left - right);
  const at = (share: number): number => sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
  return { p50: at(0.5), p95: at(0.95) };
}
