/** Records the timeline of one request: when it reached which stage, and its upstream's failures. */
import { scrub } from "../../../shared/text/scrub.ts";
import type { NamedModel } from "../../settlement/settlement.ts";
import type { RequestTimeline, RequestTrace, UpstreamEnd } from "../../../shared/stored/reporting.ts";

type Moment = Exclude<keyof RequestTimeline, "endMs">;

/** An error's text may be a page of HTML. */
const MAX_CAUSE_CHARACTERS = 300;

export class RequestTimer {
  readonly #startedMs = performance.now();
  readonly #reached: { -readonly [Name in Moment]: number | null } = {
    bodyMs: null,
    routedMs: null,
    upstreamMs: null,
    firstTokenMs: null,
  };
  #upstream: UpstreamEnd | null = null;
  #pinnedBy: RequestTrace["pinnedBy"];
  #streamedBytes = 0;

  /** Since the admission. */
  get elapsedMs(): number {
    return performance.now() - this.#startedMs;
  }

  /** Not rounded, unlike the value in the record. */
  get firstTokenMs(): number | null {
    return this.#reached.firstTokenMs;
  }

  /** Milliseconds since the request was routed to its upstream; 0 before. */
  get sinceRoutedMs(): number {
    const { routedMs } = this.#reached;
    return routedMs === null ? 0 : this.elapsedMs - routedMs;
  }

  /** Bytes sent of a streamed response. */
  get streamedBytes(): number {
    return this.#streamedBytes;
  }

  streamed(bytes: number): void {
    this.#streamedBytes += bytes;
  }

  /** Only the first call for each moment counts. */
  reach(moment: Moment): void {
    this.#reached[moment] ??= this.elapsedMs;
  }

  /** @param name The upstream's name in `gateway.yaml`. */
  handOver(name: string): void {
    this.reach("routedMs");
    this.#upstream = { name, status: null, cause: null };
  }

  /** @param source What named the session that keeps the request on a server; null: none. */
  pinned(source: string | null): void {
    this.#pinnedBy = source ?? undefined;
  }

  answered(status: number): void {
    this.reach("upstreamMs");
    if (this.#upstream === null) return;
    const { name, cause } = this.#upstream;
    this.#upstream = { name, status, cause };
  }

  /** @param cause An error, or Envoy's details. Only the first call counts: later failures follow from it. */
  failed(cause: unknown): void {
    const message = cause instanceof Error ? cause.message : cause;
    // The status is recorded separately.
    const text =
      typeof message === "string" ? message.replace(/^upstream status \d+: (?:no message$)?/, "") : "";
    if (this.#upstream === null || this.#upstream.cause !== null || text === "") return;
    this.#upstream = { ...this.#upstream, cause: scrub(text).slice(0, MAX_CAUSE_CHARACTERS) };
  }

  /**
   * Returns the timeline for the record, in whole milliseconds.
   * @param names The catalog's id and the client's model name; null if unknown.
   */
  read({ model, requestedModel }: NamedModel): RequestTrace {
    const { bodyMs, routedMs, upstreamMs, firstTokenMs } = this.#reached;
    return {
      timeline: {
        bodyMs: whole(bodyMs),
        routedMs: whole(routedMs),
        upstreamMs: whole(upstreamMs),
        firstTokenMs: whole(firstTokenMs),
        endMs: Math.round(this.elapsedMs),
      },
      upstream: this.#upstream,
      requestedModel: requestedModel === null || requestedModel === model ? undefined : requestedModel,
      pinnedBy: this.#pinnedBy,
    };
  }
}

function whole(milliseconds: number | null): number | null {
  return milliseconds === null ? null : Math.round(milliseconds);
}
