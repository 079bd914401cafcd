/** Converts plain values to Envoy's reply messages. Every append action is explicit, since Envoy's default appends. */
import type { Header, Reply } from "../../data-path/exchange/reply.ts";
import type { Route } from "../../data-path/exchange/upstream/upstream-call.ts";
import { setBounded } from "../../shared/collections/set-bounded.ts";
import { constantReply } from "./constant-replies.ts";
import { formatRawHeader, formatTextHeader } from "./headers.ts";
import { ADMISSION_HEADER, IMMEDIATE_RESPONSE_DETAILS, UPSTREAM_HEADER, WORKER_HEADER } from "../names.ts";
import type { Message } from "./messages.ts";

/** google.rpc.Code: anything but OK denies; the HTTP status is in the response itself. */
const PERMISSION_DENIED = 7;

interface OkCheck {
  readonly admissionHeader: string;
  readonly requestId: string;
  /** Socket of the worker that ext_proc must call; null: any. */
  readonly worker: string | null;
  readonly responseHeaders: readonly Header[];
}

/**
 * Admits a request (ext_authz), with the admission for ext_proc and the contract's response headers.
 * @param metadata State of the key's bucket, for Envoy's own responses.
 */
export function createOkCheck(
  { admissionHeader, requestId, worker, responseHeaders }: OkCheck,
  metadata: Message<"Struct">,
): Message<"CheckResponse"> {
  return {
    dynamic_metadata: metadata,
    status: { code: 0 },
    ok_response: {
      headers: [
        formatTextHeader(ADMISSION_HEADER, admissionHeader),
        formatTextHeader("x-request-id", requestId),
        ...(worker === null ? [] : [formatTextHeader(WORKER_HEADER, worker)]),
      ],
      response_headers_to_add: responseHeaders.map(([name, value]) => formatTextHeader(name, value)),
    },
  };
}

/** Ends a request with this reply (ext_authz). */
export function createDeniedCheck(reply: Reply, metadata: Message<"Struct">): Message<"CheckResponse"> {
  return {
    dynamic_metadata: metadata,
    status: { code: PERMISSION_DENIED },
    denied_response: {
      status: { code: reply.status },
      headers: reply.headers.map(([name, value]) => formatTextHeader(name, value)),
      body: reply.body,
    },
  };
}

/** Ends a request, or a response that has not begun, with this reply (ext_proc). */
export function createImmediateReply(
  reply: Reply,
  metadata?: Message<"Struct">,
): Message<"ProcessingResponse"> {
  return {
    immediate_response: {
      status: { code: reply.status },
      headers: { set_headers: reply.headers.map(([name, value]) => formatRawHeader(name, value)) },
      // Bytes: the encoder would read a string as base64.
      body: Buffer.from(reply.body),
      details: IMMEDIATE_RESPONSE_DETAILS,
    },
    ...(metadata === undefined ? {} : { dynamic_metadata: metadata }),
  };
}

/**
 * Processing modes of a response: its headers and pieces of its body arrive without a reply to each, and also
 * trailers, which end the body. A response that is not streamed costs one reply, at its end. With STREAMED a
 * response would only end with its upstream, and Envoy would wait for us between pieces; with BUFFERED,
 * between headers and body. Back-pressure from slow clients and from us still reaches the upstream.
 */
const RESPONSE_MODES = {
  response_header_mode: "SEND",
  response_body_mode: "FULL_DUPLEX_STREAMED",
  response_trailer_mode: "SEND",
} as const;

/** Leaves a message unchanged (ext_proc), by kind of message. */
export const NOTHING_IN = {
  response_headers: constantReply({ response_headers: { response: {} } }),
  response_body: constantReply({ response_body: { response: {} } }),
  request_trailers: constantReply({ request_trailers: {} }),
  response_trailers: constantReply({ response_trailers: {} }),
};
const CONTENT_IS_JSON = formatRawHeader("content-type", "application/json");

/** Request for its upstream. */
export interface RoutedRequest extends Pick<Route, "upstream" | "path" | "body"> {
  /** Replace the client's headers. */
  readonly setHeaders: readonly Header[];
  /** Removed headers. */
  readonly removeHeaders: string[];
}

/**
 * Replies to a complete request (ext_proc): its new body, upstream and headers. Envoy omits the length of a
 * replaced body; a later filter writes it.
 */
export function createRouteReply(
  routed: RoutedRequest,
  metadata: Message<"Struct">,
): Message<"ProcessingResponse"> {
  const response = { status: "CONTINUE_AND_REPLACE", ...formatRoute(routed) } as const;
  return { request_headers: { response }, mode_override: RESPONSE_MODES, dynamic_metadata: metadata };
}

function formatRoute({
  upstream,
  path,
  body,
  setHeaders,
  removeHeaders,
}: RoutedRequest): Message<"CommonResponse"> {
  return {
    header_mutation: {
      set_headers: [
        formatRawHeader(UPSTREAM_HEADER, upstream),
        formatRawHeader(":path", path),
        CONTENT_IS_JSON,
        ...setHeaders.map(([name, value]) => formatRawHeader(name, value)),
      ],
      remove_headers: removeHeaders,
    },
    body_mutation: { body },
    clear_route_cache: true,
  };
}

/** Changes to a response's headers. */
export interface ChangedHeaders {
  readonly set: readonly Header[];
  readonly remove: string[];
}

/**
 * Number of cached header replies. Upstreams send the same header names every time; this has room for errors
 * and a few more upstreams.
 */
const MAX_CACHED_STARTS = 64;
const cachedStarts = new Map<string, Message<"ProcessingResponse">>();

/**
 * Replies to the headers of a streamed response (ext_proc) with the headers for the client.
 * @param ofRequest Headers whose values belong to this request only.
 */
export function createStreamStartReply(
  headers: ChangedHeaders,
  ofRequest: readonly Header[] = [],
): Message<"ProcessingResponse"> {
  if (ofRequest.length > 0) {
    const header_mutation = formatMutation({ ...headers, set: [...headers.set, ...ofRequest] });
    return { response_headers: { response: { header_mutation } } };
  }
  const name = `${headers.set.join("\n")}\n\n${headers.remove.join("\n")}`;
  const cached = cachedStarts.get(name);
  if (cached !== undefined) return cached;
  const header_mutation = formatMutation(headers);
  const reply = constantReply({ response_headers: { response: { header_mutation } } });
  setBounded(cachedStarts, name, reply, MAX_CACHED_STARTS);
  return reply;
}

/** Replies to a complete response that is not streamed (ext_proc) with the client's headers and body. */
export function createWholeReply(
  headers: ChangedHeaders,
  body: Uint8Array,
  metadata: Message<"Struct">,
): Message<"ProcessingResponse"> {
  const response = {
    status: "CONTINUE_AND_REPLACE",
    header_mutation: formatMutation(headers),
    body_mutation: { body },
  } as const;
  return { response_headers: { response }, dynamic_metadata: metadata };
}

function formatMutation({ set, remove }: ChangedHeaders): Message<"HeaderMutation"> {
  return {
    set_headers: set.map(([name, value]) => formatRawHeader(name, value)),
    remove_headers: remove,
  };
}

/** Sends the next bytes of a streamed response (ext_proc). */
export function createChunkReply(body: Uint8Array): Message<"ProcessingResponse"> {
  return {
    response_body: {
      response: { body_mutation: { streamed_response: { body, end_of_stream: false } } },
    },
  };
}

/** Sends the last bytes of a streamed response (ext_proc). The stream ends here, even if the upstream continues. */
export function createLastChunkReply(
  body: Uint8Array,
  metadata: Message<"Struct">,
): Message<"ProcessingResponse"> {
  return {
    response_body: {
      response: { body_mutation: { streamed_response: { body, end_of_stream: true } } },
    },
    dynamic_metadata: metadata,
  };
}
