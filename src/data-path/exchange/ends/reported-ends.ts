/**
 * Envoy's reports on how requests ended. The end of an ext_proc call carries no reason: a client that leaves, an
 * upstream that breaks off and a timeout in Envoy look alike. Envoy's access log has the reason, and arrives over
 * gRPC for requests that ended early (`bootstrap/access-log.ts`). It uses another call, possibly to another worker:
 * workers of a host forward entries that are not their own.
 *
 * Reports never decide a cost, and nothing fails without them: without one in time, the cause is logged as unknown.
 */
import type { Channel } from "../../../shared/host/channel.ts";
import { ShortLivedMap } from "../../../shared/collections/short-lived-map.ts";

/** One entry of Envoy's access log. */
export interface ReportedEnd {
  /** Status that the client got; 0 if none. */
  readonly status: number;
  /** @see https://www.envoyproxy.io/docs/envoy/latest/configuration/http/http_conn_man/response_code_details */
  readonly details: string;
}

const KIND = "request_ended";
/**
 * Envoy writes its entry before it ends the call. The rest of this time is for forwarding the entry between
 * workers.
 */
const REPORTED_WITHIN_MS = 500;

export class ReportedEnds {
  readonly #expected = new ShortLivedMap<string, ExpectedEnd>();
  readonly #channel: Channel;
  readonly #isOnlyWorker: boolean;

  /** @param isOnlyWorker Whether all of Envoy's entries come to this process. */
  constructor(channel: Channel, { isOnlyWorker }: { readonly isOnlyWorker: boolean }) {
    this.#channel = channel;
    this.#isOnlyWorker = isOnlyWorker;
    channel.onMessage((message) => {
      if (isOwn(message)) this.#expected.get(message.requestId)?.report(message.end);
    });
  }

  /** A request has begun on this worker. */
  expect(requestId: string): ExpectedEnd {
    const expected = new ExpectedEnd(() => this.#expected.delete(requestId));
    this.#expected.set(requestId, expected);
    return expected;
  }

  /** Takes Envoy's report on a request, possibly another worker's. Returns whether this worker expected it. */
  report(requestId: string, end: ReportedEnd): boolean {
    const expected = this.#expected.get(requestId);
    if (expected !== undefined) expected.report(end);
    else if (!this.#isOnlyWorker) this.#channel.send({ kind: KIND, requestId, end });
    return expected !== undefined;
  }
}

/** The supervisor's side: sends entries whose request a worker does not have to all workers. */
export function shareReportedEnds(channel: Channel): void {
  channel.onMessage((message) => {
    if (isOwn(message)) channel.send(message);
  });
}

/** The expected report of one request. */
export class ExpectedEnd {
  /** The report is no longer needed. */
  readonly drop: () => void;
  #end: ReportedEnd | null = null;
  #resolve: ((end: ReportedEnd | null) => void) | null = null;

  constructor(onDropped: () => void) {
    this.drop = onDropped;
  }

  report(end: ReportedEnd): void {
    this.#end ??= end;
    this.#resolve?.(this.#end);
  }

  /**
   * Returns the report, waiting for half a second at most; null if there is none. Call once: nothing is expected
   * afterwards.
   */
  async take(): Promise<ReportedEnd | null> {
    let timer: NodeJS.Timeout | undefined;
    try {
      return await (this.#end ??
        new Promise<ReportedEnd | null>((resolve) => {
          this.#resolve = resolve;
          timer = setTimeout(() => resolve(null), REPORTED_WITHIN_MS);
        }));
    } finally {
      clearTimeout(timer);
      this.drop();
    }
  }
}

function isOwn(message: unknown): message is { readonly requestId: string; readonly end: ReportedEnd } {
  if (typeof message !== "object" || message === null || !("kind" in message) || message.kind !== KIND) {
    return false;
  }
  const { requestId, end } = message as {
    requestId?: unknown;
    end?: { status?: unknown; details?: unknown };
  };
  return typeof requestId === "string" && typeof end?.status === "number" && typeof end.details === "string";
}
