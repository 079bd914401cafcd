/** Plain values → Envoy's reply messages. Every append action is explicit: Envoy's default appends. */
import type { Header, Reply } from "../../exchange/reply.ts";
import type { Route } from "../../exchange/upstream-call.ts";
import type { CheckResponse } from "./generated/envoy/service/auth/v3/CheckResponse.ts";
import type { ProcessingResponse } from "./generated/envoy/service/ext_proc/v3/ProcessingResponse.ts";
import type { Struct } from "./generated/google/protobuf/Struct.ts";
import { setBounded } from "../../set-bounded.ts";
import { constantReply } from "./constant-replies.ts";
import { formatRawHeader, formatTextHeader } from "./headers.ts";
import { ADMISSION_HEADER, IMMEDIATE_RESPONSE_DETAILS, UPSTREAM_HEADER } from "../names.ts";

/** google.rpc.Code: anything but OK denies; the HTTP status is in the response itself. */
const PERMISSION_DENIED = 7;

/** ext_authz: the request goes on, with the admission for ext_proc and the contract's headers for its response. */
export function createOkCheck(
  admissionHeader: string,
  requestId: string,
  responseHeaders: readonly Header[],
): CheckResponse {
  return {
    status: { code: 0 },
    ok_response: {
      headers: [
        formatTextHeader(ADMISSION_HEADER, admissionHeader),
        formatTextHeader("x-request-id", requestId),
      ],
      response_headers_to_add: responseHeaders.map(([name, value]) => formatTextHeader(name, value)),
    },
  };
}

/** ext_authz: the request ends here, with this answer. */
export function createDeniedCheck(reply: Reply, metadata: Struct): CheckResponse {
  return {
    dynamic_metadata: metadata,
    status: { code: PERMISSION_DENIED },
    denied_response: {
      // Numbers are fine on the wire: the generated type knows only the names of the statuses in common use.
      status: { code: reply.status as 403 },
      headers: reply.headers.map(([name, value]) => formatTextHeader(name, value)),
      body: reply.body,
    },
  };
}

/** ext_proc: the request (or the response that has not begun yet) ends here, with this answer. */
export function createImmediateReply(reply: Reply, metadata?: Struct): ProcessingResponse {
  return {
    immediate_response: {
      status: { code: reply.status as 403 },
      headers: { set_headers: reply.headers.map(([name, value]) => formatRawHeader(name, value)) },
      // Bytes: the encoder would read a string as base64.
      body: Buffer.from(reply.body),
      details: IMMEDIATE_RESPONSE_DETAILS,
    },
    ...(metadata === undefined ? {} : { dynamic_metadata: metadata }),
  };
}

/** ext_proc, in reply to request headers: send the whole request body, then the response. */
export const AWAIT_BODY = constantReply({
  request_headers: { response: {} },
  mode_override: {
    request_header_mode: "SEND",
    request_body_mode: "BUFFERED",
    response_header_mode: "SEND",
    response_body_mode: "BUFFERED",
  },
});

/** ext_proc, where there is nothing to change. */
export const NOTHING_IN_HEADERS = constantReply({ response_headers: { response: {} } });
export const NOTHING_IN_BODY = constantReply({ response_body: { response: {} } });
export const NOTHING_IN_REQUEST_TRAILERS = constantReply({ request_trailers: {} });
export const NOTHING_IN_TRAILERS = constantReply({ response_trailers: {} });
const CONTENT_IS_JSON = formatRawHeader("content-type", "application/json");

/** ext_proc, in reply to the request body: the new body, its upstream, and the headers that must not reach it. */
export function createRouteReply(
  route: Pick<Route, "upstream" | "path" | "body">,
  removeHeaders: string[],
  metadata: Struct,
): ProcessingResponse {
  return {
    request_body: {
      response: {
        header_mutation: {
          set_headers: [
            formatRawHeader(UPSTREAM_HEADER, route.upstream),
            formatRawHeader(":path", route.path),
            CONTENT_IS_JSON,
            formatRawHeader("content-length", String(route.body.byteLength)),
          ],
          remove_headers: removeHeaders,
        },
        body_mutation: { body: route.body },
        clear_route_cache: true,
      },
    },
    dynamic_metadata: metadata,
  };
}

/**
 * How a streamed response comes: pieces without a reply to each, trailers too, which are the end of a stream that has
 * them. STREAMED would end a response only with its upstream, and Envoy would wait for us between two pieces.
 * Back-pressure reaches the upstream all the same: of a client that reads slowly, and of ourselves.
 */
const STREAM_MODE = {
  response_header_mode: "SEND",
  response_body_mode: "FULL_DUPLEX_STREAMED",
  response_trailer_mode: "SEND",
} as const;

/** Upstreams answer with the same names of headers every time; those of errors and of a few more upstreams fit too. */
const MAX_KEPT_STARTS = 64;
const keptStarts = new Map<string, ProcessingResponse>();

/** ext_proc, in reply to response headers: how the body is wanted, and which headers the client gets. */
export function createResponseStartReply(
  mode: "stream" | "whole",
  headers: readonly Header[],
  removeHeaders: string[],
): ProcessingResponse {
  const name = `${mode}\n${headers.join("\n")}\n\n${removeHeaders.join("\n")}`;
  const kept = keptStarts.get(name);
  if (kept !== undefined) return kept;
  const reply = constantReply(formatResponseStart(mode, headers, removeHeaders));
  setBounded(keptStarts, name, reply, MAX_KEPT_STARTS);
  return reply;
}

function formatResponseStart(
  mode: "stream" | "whole",
  headers: readonly Header[],
  removeHeaders: string[],
): ProcessingResponse {
  return {
    response_headers: {
      response: {
        header_mutation: {
          set_headers: headers.map(([name, value]) => formatRawHeader(name, value)),
          remove_headers: removeHeaders,
        },
      },
    },
    ...(mode === "stream" ? { mode_override: STREAM_MODE } : {}),
  };
}

/** ext_proc, in reply to the whole body of a response: the body that the client gets instead. */
export function createWholeBodyReply(
  body: Uint8Array,
  headers: readonly Header[],
  metadata: Struct,
): ProcessingResponse {
  return {
    response_body: {
      response: {
        header_mutation: {
          set_headers: [
            ...headers.map(([name, value]) => formatRawHeader(name, value)),
            formatRawHeader("content-length", String(body.byteLength)),
          ],
        },
        body_mutation: { body },
      },
    },
    dynamic_metadata: metadata,
  };
}

/** ext_proc: the next bytes of a streamed response. */
export function createChunkReply(body: Uint8Array): ProcessingResponse {
  return {
    response_body: {
      response: { body_mutation: { streamed_response: { body, end_of_stream: false } } },
    },
  };
}

/** ext_proc: the last bytes of a streamed response. It ends here, and so does the upstream, ended or not. */
export function createLastChunkReply(body: Uint8Array, metadata: Struct): ProcessingResponse {
  return {
    response_body: {
      response: { body_mutation: { streamed_response: { body, end_of_stream: true } } },
    },
    dynamic_metadata: metadata,
  };
}
