/**
 * What Envoy says of how a request ended. The end of an ext_proc call carries no reason: a client that goes away, an
 * upstream that breaks off and a timeout of Envoy's own look alike there. Envoy's access log has the reason, and comes
 * over gRPC as well, for requests that did not end in order (`bootstrap/access-log.ts`). It comes by another call, which
 * may be another worker's: the workers of a host hand each other what is not their own.
 *
 * It never decides what a request costs, and nothing fails without it: who is told nothing in time names nobody.
 */
import type { Channel } from "../../../shared/host/channel.ts";
import { ShortLivedMap } from "../../../shared/collections/short-lived-map.ts";

/** One entry of Envoy's access log. */
export interface ReportedEnd {
  /** What the client has got; 0: nothing. */
  readonly status: number;
  /** @see https://www.envoyproxy.io/docs/envoy/latest/configuration/http/http_conn_man/response_code_details */
  readonly details: string;
}

const KIND = "request_ended";
/** Envoy writes its entry before it ends the call; the rest is the way from another worker. */
const REPORTED_WITHIN_MS = 500;

export class ReportedEnds {
  readonly #expected = new ShortLivedMap<string, ExpectedEnd>();
  readonly #channel: Channel;
  readonly #isOnlyWorker: boolean;

  /** @param isOnlyWorker Whether each entry of Envoy's comes to this process. */
  constructor(channel: Channel, { isOnlyWorker }: { readonly isOnlyWorker: boolean }) {
    this.#channel = channel;
    this.#isOnlyWorker = isOnlyWorker;
    channel.onMessage((message) => {
      if (isOwn(message)) this.#expected.get(message.requestId)?.report(message.end);
    });
  }

  /** A request has begun here. */
  expect(requestId: string): ExpectedEnd {
    const expected = new ExpectedEnd(() => this.#expected.delete(requestId));
    this.#expected.set(requestId, expected);
    return expected;
  }

  /** Envoy's word on a request, which may be another worker's. */
  report(requestId: string, end: ReportedEnd): void {
    const expected = this.#expected.get(requestId);
    if (expected !== undefined) expected.report(end);
    else if (!this.#isOnlyWorker) this.#channel.send({ kind: KIND, requestId, end });
  }
}

/** The supervisor's part: what one worker has no request for, every worker hears. */
export function shareReportedEnds(channel: Channel): void {
  channel.onMessage((message) => {
    if (isOwn(message)) channel.send(message);
  });
}

/** The end of one request, for as long as it may be asked for. */
export class ExpectedEnd {
  /** Nobody will ask. */
  readonly drop: () => void;
  #end: ReportedEnd | null = null;
  #tell: ((end: ReportedEnd | null) => void) | null = null;

  constructor(onDropped: () => void) {
    this.drop = onDropped;
  }

  report(end: ReportedEnd): void {
    this.#end ??= end;
    this.#tell?.(this.#end);
  }

  /** What was reported, or is within half a second; null: nothing. Called once at most; nothing is expected after it. */
  async take(): Promise<ReportedEnd | null> {
    let timer: NodeJS.Timeout | undefined;
    try {
      return await (this.#end ??
        new Promise<ReportedEnd | null>((resolve) => {
          this.#tell = resolve;
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
