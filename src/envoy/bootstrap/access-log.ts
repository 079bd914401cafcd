/**
 * Access log: one JSON line per request, at most 4 KiB. Never contains a key, a body, a query or an
 * `authorization` header.
 */
import {
  ACCESS_LOG_METADATA,
  ADMISSION_NAMESPACE,
  EDGE_METADATA_NAMESPACE,
  EDGE_METADATA_PATH,
  EDGE_METADATA_USER_AGENT,
  METADATA_NAMESPACE,
} from "../names.ts";
import { formatFirst, LOGGED_REQUEST_ID, metadata, type Operator } from "./formatters.ts";
import { type EnvoyNode, typed } from "./yaml-document.ts";

/** Maximum length of texts from clients, so that lines have a bounded length. */
const MAX_TEXT_CHARACTERS = 256;
const MAX_METHOD_CHARACTERS = 16;

/** Fields that rejections may also have. */
const REFUSAL_FIELDS: ReadonlySet<string> = new Set(["key_id", "organization_id", "error_code"]);

/**
 * CEL for the client's text in a request that no filter has seen; empty if it may contain a credential,
 * because CEL cannot remove one. Envoy only accepts small expressions, so this one also omits some texts
 * without credentials.
 */
const unfiltered = (text: string): Operator => ({
  command: "CEL",
  param: `${text}.matches('(?i)sk-|whsec_|igw_') ? '' : ${text}`,
});

const short = (operator: Operator): Operator => ({ ...operator, max_length: MAX_TEXT_CHARACTERS });

/** Returns the `access_log` of the HTTP connection manager, to a file or standard output. */
export function createAccessLog(file: string | null): EnvoyNode {
  const logFormat = { log_format: { json_format: createFields() } };
  return file === null
    ? {
        name: "envoy.access_loggers.stdout",
        typed_config: typed("envoy.extensions.access_loggers.stream.v3.StdoutAccessLog", logFormat),
      }
    : {
        name: "envoy.access_loggers.file",
        typed_config: typed("envoy.extensions.access_loggers.file.v3.FileAccessLog", {
          path: file,
          ...logFormat,
        }),
      };
}

function createFields(): EnvoyNode {
  return {
    time: "%START_TIME(%Y-%m-%dT%H:%M:%S.%3fZ)%",
    request_id: LOGGED_REQUEST_ID,
    method: `%REQ(:METHOD):${MAX_METHOD_CHARACTERS}%`,
    path: formatFirst(
      short(metadata(EDGE_METADATA_NAMESPACE, EDGE_METADATA_PATH)),
      short(unfiltered("request.url_path")),
    ),
    protocol: "%PROTOCOL%",
    status: "%RESPONSE_CODE%",
    flags: "%RESPONSE_FLAGS%",
    code_details: "%RESPONSE_CODE_DETAILS%",
    duration_ms: "%DURATION%",
    first_byte_ms: "%RESPONSE_DURATION%",
    bytes_received: "%BYTES_RECEIVED%",
    bytes_sent: "%BYTES_SENT%",
    user_agent: formatFirst(
      short(metadata(EDGE_METADATA_NAMESPACE, EDGE_METADATA_USER_AGENT)),
      short(unfiltered("request.useragent")),
    ),
    upstream: "%UPSTREAM_CLUSTER%",
    attempts: "%UPSTREAM_REQUEST_ATTEMPT_COUNT%",
    upstream_bytes_sent: "%UPSTREAM_WIRE_BYTES_SENT%",
    ...Object.fromEntries(ACCESS_LOG_METADATA.map((field) => [field, formatField(field)])),
  };
}

function formatField(field: string): string {
  const own = metadata(METADATA_NAMESPACE, field);
  return REFUSAL_FIELDS.has(field)
    ? formatFirst(own, metadata(ADMISSION_NAMESPACE, field))
    : `%${own.command}(${own.param})%`;
}
