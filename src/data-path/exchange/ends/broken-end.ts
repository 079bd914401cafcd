/**
 * Who ended an exchange that nobody has ended here, by what Envoy reported of it: the client, the upstream, a limit of
 * time; or nobody that is known.
 */
import { type ErrorCode, GatewayError } from "../../../shared/contract/errors.ts";
import type { ClientResult } from "../../request-log/line.ts";
import type { ReportedEnd } from "./reported-ends.ts";

/** The end of an exchange that was not ended here. */
export interface BrokenEnd {
  readonly result: ClientResult;
  /** What the client has read, or would have; null: it left, or nobody knows. */
  readonly error: GatewayError | null;
  /** Envoy's words; null: there are none. */
  readonly cause: string | null;
}

/**
 * The answer ended before its end and no error can be told of it: its client went away, or it is not known who did. The
 * status that access logs use for it since nginx.
 */
export const CLIENT_GONE: ClientResult = { status: 499, errorCode: null };

/** Envoy's own answers, as `bootstrap/local-replies.ts` makes them, by their status. */
const TOLD: Readonly<Record<number, ErrorCode>> = {
  400: "invalid_parameter",
  408: "request_timeout",
  413: "request_too_large",
  500: "internal_error",
  502: "upstream_error",
  503: "gateway_unavailable",
  504: "upstream_timeout",
};
/** Of an answer that has begun, by how Envoy's details begin. */
const CUT: readonly (readonly [prefix: string, code: ErrorCode])[] = [
  ["upstream_reset", "upstream_error"],
  ["response_timeout", "upstream_timeout"],
  ["upstream_response_timeout", "upstream_timeout"],
  ["upstream_per_try", "upstream_timeout"],
  ["upstream_max_stream_duration", "upstream_timeout"],
];

/** Nothing was sent either way for as long as Envoy waits: it does not say whose silence that was. */
const SILENCE = "stream_idle_timeout";
/**
 * The most of an answer that Envoy holds for a client that does not read it. Then it stops reading the upstream, which looks
 * like the upstream's silence; before, nothing keeps the upstream from sending.
 */
const MOST_UNREAD_BYTES = 1024 ** 2;

/**
 * @param end Null: Envoy has said nothing.
 * @param streamedBytes So much of a streamed answer was given out.
 */
export function describeBrokenEnd(end: ReportedEnd | null, streamedBytes = 0): BrokenEnd {
  if (end === null) return { result: CLIENT_GONE, error: null, cause: null };
  const { status, details: cause } = end;
  const told = TOLD[status];
  if (told !== undefined) return failed(told, status, cause);
  const isUpstreamSilent = status === 200 && cause.startsWith(SILENCE) && streamedBytes <= MOST_UNREAD_BYTES;
  if (isUpstreamSilent) return failed("upstream_timeout", status, cause);
  const cut = CUT.find(([prefix]) => cause.startsWith(prefix))?.[1];
  // An event in the stream would have told it: what the client has is a 200 and no end.
  return cut === undefined ? { result: CLIENT_GONE, error: null, cause } : failed(cut, 200, cause);
}

function failed(code: ErrorCode, status: number, cause: string): BrokenEnd {
  const error = new GatewayError(code, { cause: new Error(cause) });
  return { result: { status, errorCode: error.publicCode }, error, cause };
}
