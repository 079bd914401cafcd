/**
 * Envoy's messages: the fields that the gateway reads or writes, with the numbers of the .proto files. Types,
 * decoders and encoders come from this table; a property test compares them with the library's generic codec.
 */
import { type Field, isScalar, list, map, type Messages, one } from "./message-fields.ts";

const HEADER_MODES = ["DEFAULT", "SEND", "SKIP"] as const;
const BODY_MODES = ["NONE", "STREAMED", "BUFFERED", null, "FULL_DUPLEX_STREAMED"] as const;

export const MESSAGES = {
  // ext_authz
  CheckRequest: { attributes: one(1, "AttributeContext") },
  AttributeContext: {
    request: one(4, "AttributeRequest"),
    context_extensions: map(10, "text"),
    metadata_context: one(11, "Metadata"),
  },
  AttributeRequest: { http: one(2, "HttpRequest") },
  HttpRequest: {
    id: one(1, "text"),
    method: one(2, "text"),
    headers: map(3, "text"),
    path: one(4, "text"),
    host: one(5, "text"),
    scheme: one(6, "text"),
    size: one(9, "int64"),
    protocol: one(10, "text"),
  },
  CheckResponse: {
    status: one(1, "Status"),
    denied_response: one(2, "DeniedHttpResponse", "http_response"),
    ok_response: one(3, "OkHttpResponse", "http_response"),
    dynamic_metadata: one(4, "Struct"),
  },
  Status: { code: one(1, "uint32"), message: one(2, "text") },
  DeniedHttpResponse: {
    status: one(1, "HttpStatus"),
    headers: list(2, "HeaderValueOption"),
    body: one(3, "text"),
  },
  OkHttpResponse: {
    headers: list(2, "HeaderValueOption"),
    headers_to_remove: list(5, "text"),
    response_headers_to_add: list(6, "HeaderValueOption"),
  },
  // ext_proc
  ProcessingRequest: {
    request_headers: one(2, "HttpHeaders", "request"),
    response_headers: one(3, "HttpHeaders", "request"),
    request_body: one(4, "HttpBody", "request"),
    response_body: one(5, "HttpBody", "request"),
    request_trailers: one(6, "HttpTrailers", "request"),
    response_trailers: one(7, "HttpTrailers", "request"),
    attributes: map(9, "Struct"),
    protocol_config: one(11, "ProtocolConfiguration"),
  },
  HttpHeaders: { headers: one(1, "HeaderMap"), end_of_stream: one(3, "boolean") },
  HttpBody: { body: one(1, "bytes"), end_of_stream: one(2, "boolean") },
  HttpTrailers: { trailers: one(1, "HeaderMap") },
  ProtocolConfiguration: { request_body_mode: one(1, BODY_MODES) },
  ProcessingResponse: {
    request_headers: one(1, "PhaseResponse", "response"),
    response_headers: one(2, "PhaseResponse", "response"),
    request_body: one(3, "PhaseResponse", "response"),
    response_body: one(4, "PhaseResponse", "response"),
    request_trailers: one(5, "TrailersResponse", "response"),
    response_trailers: one(6, "TrailersResponse", "response"),
    immediate_response: one(7, "ImmediateResponse", "response"),
    dynamic_metadata: one(8, "Struct"),
    mode_override: one(9, "ProcessingMode"),
  },
  PhaseResponse: { response: one(1, "CommonResponse") },
  TrailersResponse: { header_mutation: one(1, "HeaderMutation") },
  CommonResponse: {
    status: one(1, ["CONTINUE", "CONTINUE_AND_REPLACE"]),
    header_mutation: one(2, "HeaderMutation"),
    body_mutation: one(3, "BodyMutation"),
    clear_route_cache: one(5, "boolean"),
  },
  HeaderMutation: { set_headers: list(1, "HeaderValueOption"), remove_headers: list(2, "text") },
  BodyMutation: {
    body: one(1, "view", "mutation"),
    clear_body: one(2, "boolean", "mutation"),
    streamed_response: one(3, "StreamedBodyResponse", "mutation"),
  },
  StreamedBodyResponse: { body: one(1, "view"), end_of_stream: one(2, "boolean") },
  ImmediateResponse: {
    status: one(1, "HttpStatus"),
    headers: one(2, "HeaderMutation"),
    body: one(3, "view"),
    grpc_status: one(4, "GrpcStatus"),
    details: one(5, "text"),
  },
  GrpcStatus: { status: one(1, "uint32") },
  ProcessingMode: {
    request_header_mode: one(1, HEADER_MODES),
    response_header_mode: one(2, HEADER_MODES),
    request_body_mode: one(3, BODY_MODES),
    response_body_mode: one(4, BODY_MODES),
    request_trailer_mode: one(5, HEADER_MODES),
    response_trailer_mode: one(6, HEADER_MODES),
  },
  // Both
  HttpStatus: { code: one(1, "uint32") },
  HeaderMap: { headers: list(1, "HeaderValue") },
  HeaderValue: { key: one(1, "text"), value: one(2, "text"), raw_value: one(3, "bytes") },
  HeaderValueOption: {
    header: one(1, "HeaderValue"),
    append_action: one(3, [
      "APPEND_IF_EXISTS_OR_ADD",
      "ADD_IF_ABSENT",
      "OVERWRITE_IF_EXISTS_OR_ADD",
      "OVERWRITE_IF_EXISTS",
    ]),
  },
  Metadata: { filter_metadata: map(1, "Struct") },
  Struct: { fields: map(1, "Value") },
  Value: {
    nullValue: one(1, ["NULL_VALUE"], "kind"),
    numberValue: one(2, "double", "kind"),
    stringValue: one(3, "text", "kind"),
    boolValue: one(4, "boolean", "kind"),
    structValue: one(5, "Struct", "kind"),
    listValue: one(6, "ListValue", "kind"),
  },
  ListValue: { values: list(1, "Value") },
  // Access log
  StreamAccessLogsMessage: { http_logs: one(2, "HTTPAccessLogEntries", "log_entries") },
  HTTPAccessLogEntries: { log_entry: list(1, "HTTPAccessLogEntry") },
  HTTPAccessLogEntry: {
    common_properties: one(1, "AccessLogCommon"),
    request: one(3, "HTTPRequestProperties"),
    response: one(4, "HTTPResponseProperties"),
  },
  AccessLogCommon: { custom_tags: map(22, "text") },
  HTTPRequestProperties: { request_id: one(9, "text") },
  HTTPResponseProperties: { response_code: one(1, "UInt32Value"), response_code_details: one(6, "text") },
  UInt32Value: { value: one(1, "uint32") },
  // Health check
  HealthCheckRequest: { service: one(1, "text") },
  HealthCheckResponse: { status: one(1, ["UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"]) },
} as const satisfies Messages;

type Table = typeof MESSAGES;

/** Messages that Envoy sends, and those that the gateway sends. */
export const RECEIVED = [
  "CheckRequest",
  "ProcessingRequest",
  "StreamAccessLogsMessage",
  "HealthCheckRequest",
] as const;
export const SENT = ["CheckResponse", "ProcessingResponse", "HealthCheckResponse"] as const;

/** Returns these messages and all within them, with their fields. */
export function withParts(
  names: readonly string[],
): readonly (readonly [string, Readonly<Record<string, Field>>])[] {
  const table: Messages = MESSAGES;
  const found = new Set(names);
  // A set also visits what is added meanwhile.
  for (const name of found) {
    for (const { kind } of Object.values(table[name] ?? {})) {
      if (typeof kind === "string" && !isScalar(kind)) found.add(kind);
    }
  }
  return [...found].map((name) => [name, table[name] ?? {}]);
}

type ValueOf<Kind> = Kind extends "text" | "int64"
  ? string
  : Kind extends "bytes" | "view"
    ? Kind extends "bytes"
      ? Buffer
      : Uint8Array
    : Kind extends "boolean"
      ? boolean
      : Kind extends "uint32" | "double"
        ? number
        : Kind extends keyof Table
          ? Message<Kind>
          : Kind extends readonly (infer Name)[]
            ? Exclude<Name, null>
            : never;

type FieldValue<One extends Field> = One["many"] extends "list"
  ? ValueOf<One["kind"]>[]
  : One["many"] extends "map"
    ? Record<string, ValueOf<One["kind"]>>
    : ValueOf<One["kind"]>;

/** Message of the table; fields that are not set are absent. A oneof has the name of its member. */
export type Message<Name extends keyof Table> = {
  -readonly [Key in keyof Table[Name]]?: Table[Name][Key] extends Field
    ? FieldValue<Table[Name][Key]>
    : never;
} & {
  -readonly [
    Key in keyof Table[Name] as Table[Name][Key] extends { readonly oneof: infer Oneof extends string }
      ? Oneof
      : never
  ]?: Key;
};
