/**
 * Envoy's own replies, in the shape of our API contract. Each row of the table matches some of them and names
 * the entry of `ERRORS` that a client gets instead; it is rendered twice, for the envelopes of both route
 * families.
 * Must never change the sidecar's replies (denials of ext_authz, ImmediateResponse of ext_proc) or an
 * upstream's response; mappers only see local replies, and the first mapper passes the sidecar's. A row
 * matches by `response.code_details`, because the status does not distinguish an upstream's reset from a
 * missing sidecar.
 * @see https://www.envoyproxy.io/docs/envoy/latest/configuration/http/http_conn_man/local_reply
 */
import { docUrlOf } from "../../shared/contract/error-reference.ts";
import { type ErrorCode, GatewayError } from "../../shared/contract/errors.ts";
import { REMAINING_HEADER } from "../../shared/contract/header-names.ts";
import { RATE_HEADERS } from "../../data-path/limits/headers/rate-headers.ts";
import {
  ADMISSION_NAMESPACE,
  GUARDRAIL_NAMESPACE,
  EDGE_METADATA_NAMESPACE,
  EDGE_METADATA_PATH,
  IMMEDIATE_RESPONSE_DETAILS,
  LOST_CONNECTION_HEADER,
  METADATA_NAMESPACE,
} from "../names.ts";
import { createErrorBody as createMessagesErrorBody } from "../../data-path/translation/messages-to-chat/error-body.ts";
import { createErrorBody } from "../../data-path/translation/openai/error-body.ts";
import { formatFirst, metadata, REQUEST_ID } from "./formatters.ts";
import { type EnvoyNode, oneLine, typed } from "./yaml-document.ts";

/** One kind of Envoy's own replies. */
export interface LocalReplyRow {
  readonly why: string;
  /** Condition: CEL over Envoy's attributes. */
  readonly when: string;
  readonly code: ErrorCode;
  /** Path, if the row only applies to one. */
  readonly path?: string;
  /** Further headers, for the sidecar when it replaces the reply. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Message, if the one from `ERRORS` would not say what the client must change. */
  readonly message?: string;
}

const startsWith = (...prefixes: string[]): string =>
  prefixes.map((prefix) => `response.code_details.startsWith('${prefix}')`).join(" || ");

const RESET = "upstream_reset_before_response_started{";
/** Without `via_upstream` the call was not ended by an error of the sidecar: the sidecar was unreachable. */
const PROCESSING_LOST =
  "response.code_details.startsWith('ext_proc_error_gRPC_error_') && !response.code_details.contains('via_upstream')";

/** First match wins. The last two rows catch everything else. */
export const LOCAL_REPLIES: readonly LocalReplyRow[] = [
  {
    why: "a guardrail between the gateway's filters has blocked the request or its answer; its body is for the client",
    when: `'${GUARDRAIL_NAMESPACE}' in metadata.filter_metadata`,
    code: "guardrail_blocked",
    message: "A guardrail blocked this request. %LOCAL_REPLY_BODY%",
  },
  {
    why: "Codex asks for a WebSocket here first: at a 426 it goes on over HTTP at once, at a 403 only after seven tries",
    when: "response.code_details == 'upgrade_failed'",
    path: "/v1/responses",
    code: "websocket_not_supported",
  },
  {
    why: "`Upgrade: websocket` and CONNECT",
    when: "response.code_details == 'upgrade_failed' || (response.code_details == 'direct_response' && response.code == 403)",
    code: "upgrade_not_supported",
  },
  {
    why: "HTTP/1.0 (Envoy's 426)",
    when: "response.code == 426",
    code: "upgrade_not_supported",
    message: "HTTP/1.0 is not supported. Use HTTP/1.1 or HTTP/2.",
  },
  { why: "headers over the limit", when: "response.code == 431", code: "request_header_fields_too_large" },
  { why: "body that has grown too much on its way", when: "response.code == 413", code: "request_too_large" },
  { why: "headers or body came too slowly", when: "response.code == 408", code: "request_timeout" },
  {
    why: "Envoy's own memory is used up (overload_manager)",
    when: "response.code_details.startsWith('overload')",
    code: "gateway_overloaded",
  },
  { why: "the sidecar is gone or late", when: startsWith("ext_authz_error"), code: "gateway_unavailable" },
  {
    why: "the sidecar is gone or late after the admission: a worker died, or the last one drained",
    when: `(${PROCESSING_LOST}) || ${startsWith("ext_proc_error_per-message_timeout_exceeded")}`,
    code: "gateway_unavailable",
    message: "The gateway lost this request. Try again in a moment.",
  },
  {
    why: "the secret of an upstream has not been read: no request goes out without its credential",
    when: "response.code == 401",
    code: "upstream_authentication_failed",
  },
  {
    why: "no upstream was reached; with the sidecar alive it answers these itself, with the model's own startup time",
    when: startsWith(
      "no_healthy_upstream",
      `${RESET}remote_connection_failure`,
      `${RESET}local_connection_failure`,
      `${RESET}connection_timeout`,
    ),
    code: "model_starting",
  },
  {
    why: "an upstream's circuit breaker, or an endpoint picker behind the gateway's filters that refuses by itself",
    when: `${startsWith(`${RESET}overflow`)} || response.code == 429 || (response.code == 503 && response.code_details == '')`,
    code: "model_overloaded",
  },
  {
    why: "the upstream did not answer within the stream's idle time",
    when: startsWith(
      "stream_idle_timeout",
      "upstream_response_timeout",
      "response_timeout",
      "duration_timeout",
      "max_duration_timeout",
      "upstream_per_try",
    ),
    code: "upstream_timeout",
  },
  {
    why: "the upstream reset the connection or broke the protocol",
    when: startsWith("upstream_reset", "response_payload_too_large"),
    headers: {
      [LOST_CONNECTION_HEADER]: "%COMMON_DURATION(US_CX_BEG:DS_RX_BEG:us)% %UPSTREAM_WIRE_BYTES_RECEIVED%",
    },
    code: "upstream_error",
  },
  {
    why: "no route; the last route takes every path",
    when: "response.code == 404",
    code: "unknown_endpoint",
  },
  {
    why: "no Host, a bad request line, bad chunks, a bad path",
    when: "response.code < 500 || response.code_details.startsWith('http1.')",
    code: "invalid_parameter",
    message: "The request is not valid HTTP. Check its request line, Host header, path and body framing.",
  },
  {
    why: "anything else, as errors of the sidecar's own in ext_proc and a cluster that does not exist",
    when: "response.code >= 500",
    code: "internal_error",
  },
];

/** Returns the `local_reply_config` of the HTTP connection manager. @param reference Address of the error reference. */
export function createLocalReplyConfig(reference: string): EnvoyNode {
  return {
    "#mappers":
      "The first mapper that matches is taken. Before headers are read there is no path: CEL fails on it, the row of " +
      "the messages envelope is passed over and the chat row applies.",
    mappers: [
      {
        "#":
          "What the sidecar answered stays as it is, and so do direct responses. Without this mapper all rows below " +
          "would be tried on every 401 and 429.",
        filter: createFilter(
          `response.code_details in ['ext_authz_denied', '${IMMEDIATE_RESPONSE_DETAILS}'] || response.code < 400`,
        ),
      },
      ...LOCAL_REPLIES.flatMap((row) =>
        ENVELOPES.filter(isIn(row)).map((envelope) => createMapper(row, envelope, reference)),
      ),
    ],
  };
}

/** Envelopes: the first for its own routes, the second for all others. */
const ENVELOPES = ["messages", "chat"] as const;
type Envelope = (typeof ENVELOPES)[number];

/** A row with a path is rendered only for its envelope. */
const isIn =
  ({ path }: LocalReplyRow) =>
  (envelope: Envelope): boolean =>
    path === undefined || envelope === "chat";

function createMapper(row: LocalReplyRow, protocol: Envelope, reference: string): EnvoyNode {
  const createBody = protocol === "chat" ? createErrorBody : createMessagesErrorBody;
  const fields = { doc_url: docUrlOf(row.code, reference) };
  const error = new GatewayError(row.code, {
    fields,
    ...(row.message === undefined ? {} : { message: row.message }),
  });
  return {
    ...(protocol === "messages" || row.path !== undefined ? { "#": row.why } : {}),
    filter: createFilter(createCondition(row, protocol)),
    status_code: error.status(protocol),
    headers_to_add: createHeaders(error, protocol, row.headers),
    body_format_override: {
      json_format: oneLine(createBody(error, REQUEST_ID)),
      content_type: "application/json",
    },
  };
}

function createCondition({ when, path }: LocalReplyRow, protocol: Envelope): string {
  if (path !== undefined) return `(${when}) && (${PATH} == '${path}' || ${PATH}.startsWith('${path}?'))`;
  return protocol === "messages" ? `(${when}) && ${PATH}.startsWith('/v1/messages')` : when;
}

/** Before the first filter has run, only the original path is available. */
const PATH =
  `('${EDGE_METADATA_NAMESPACE}' in metadata.filter_metadata ` +
  `? metadata.filter_metadata['${EDGE_METADATA_NAMESPACE}']['${EDGE_METADATA_PATH}'] : request.path)`;

function createFilter(expression: string): EnvoyNode {
  return {
    extension_filter: {
      name: "cel",
      typed_config: typed("envoy.extensions.access_loggers.filters.cel.v3.ExpressionFilter", { expression }),
    },
  };
}

/**
 * Returns headers for requests that ext_authz never saw, or whose reply skips its filter; headers of
 * ext_authz's OK reply are added later and replace these. Envoy omits headers without a value.
 */
function createHeaders(
  error: GatewayError,
  protocol: Envelope,
  further: LocalReplyRow["headers"],
): EnvoyNode[] {
  const headers: Record<string, string> = {
    ...Object.fromEntries(RATE_HEADERS[protocol].map((name) => [name, formatRateHeader(name)])),
    "x-request-id": REQUEST_ID,
    "request-id": REQUEST_ID,
    "x-should-retry": String(error.shouldRetry),
    ...further,
  };
  if (error.retryAfterSeconds !== null) headers["retry-after"] = String(error.retryAfterSeconds);
  return Object.entries(headers).map(([key, value]) => ({
    header: oneLine({ key, value }),
    append_action: "ADD_IF_ABSENT",
  }));
}

/** Formats a rate header from ext_proc (deferred admissions) or ext_authz; 0 if no key was read. */
function formatRateHeader(name: string): string {
  const sources = [metadata(METADATA_NAMESPACE, name), metadata(ADMISSION_NAMESPACE, name)];
  return formatFirst(...sources, ...(name === REMAINING_HEADER ? [{ command: "CEL", param: "'0'" }] : []));
}
