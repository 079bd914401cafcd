/**
 * Names that Envoy's configuration and the sidecar share. A change here changes both sides at once: the bootstrap is
 * rendered from them, the gRPC handlers read and write by them.
 */

/** Envoy's cluster of the sidecar's workers, one endpoint per worker. */
export const SIDECAR_CLUSTER = "sidecar";

/** Request headers of the gateway's own begin with this; Envoy removes what a client sends under it. */
export const INTERNAL_HEADER_PREFIX = "x-igw-";

/** By which an endpoint picker says where to, where one stands behind the gateway; never a client's. */
export const ENDPOINT_HEADER = "x-gateway-destination-endpoint";

/** Set by ext_authz's OK reply, read by ext_proc: the admission as one line of ASCII, or which one to wait for. */
export const ADMISSION_HEADER = "x-igw-admission";

/** Set by ext_proc: the cluster, which is the upstream's name in the configuration. */
export const UPSTREAM_HEADER = "x-igw-upstream";

/**
 * On Envoy's own reply where an upstream has broken its connection, for the sidecar: for how many microseconds the
 * connection had been there before the request ("" or "-": it is younger), and how many bytes came back.
 */
export const LOST_CONNECTION_HEADER = "x-igw-lost-connection";

/**
 * Dynamic metadata that Envoy itself sets before ext_authz: `path`, the client's path after normalisation, without its
 * query. ext_proc rewrites `:path`, but error envelopes and the access log go by the client's.
 */
export const EDGE_METADATA_NAMESPACE = "inference_gateway_edge";
export const EDGE_METADATA_PATH = "path";
export const EDGE_METADATA_USER_AGENT = "user_agent";

/** ext_proc by Envoy's own name: in the chain, in what a route sets for it, and over the attributes that it sends. */
export const PROCESSING_FILTER = "envoy.filters.http.ext_proc";

/** A buffer filter, by a name of its own: what a route sets for an operator's is not for this one. */
export const CONTENT_LENGTH_FILTER = "inference_gateway.content_length";

/** The filter that gives replies to requests with a content type of gRPC their own form again. */
export const GRPC_REPLY_FILTER = "inference_gateway.grpc_reply";

/** Dynamic metadata of ext_proc's replies for the access log; see `ACCESS_LOG_METADATA`. */
export const METADATA_NAMESPACE = "inference_gateway";

/**
 * Where Envoy keeps the dynamic metadata of ext_authz: whose request it was that was refused, or the state of the key's
 * bucket. For local replies and the access log alone: it is not forwarded to ext_proc, which would get it with each message.
 */
export const ADMISSION_NAMESPACE = "envoy.filters.http.ext_authz";

/**
 * Where Envoy keeps what it has found out about a request's token, for ext_authz: `verified.<provider>`, the token's claims;
 * `header.<provider>`, its header; `failed.<provider>`, why it is not good. No header of a client gets there.
 */
export const JWT_NAMESPACE = "envoy.filters.http.jwt_authn";
export const VERIFIED_PREFIX = "verified.";
export const FAILED_PREFIX = "failed.";
export const TOKEN_HEADER_PREFIX = "header.";
/** Longest header with a token that Envoy verifies. What is longer costs it milliseconds for each provider. */
export const MAX_TOKEN_HEADER_BYTES = 16_384;

/** Fields of the metadata that the access log writes. */
export const ACCESS_LOG_METADATA = [
  "key_id",
  "organization_id",
  "model",
  "input_tokens",
  "cached_input_tokens",
  "output_tokens",
  "cost_microcents",
  "error_code",
] as const;

/** The access log that the sidecar gets, by Envoy's own name of such logs. */
export const END_REPORTS_LOG = "envoy.access_loggers.http_grpc";

/**
 * `details` of every ImmediateResponse of the sidecar, by which the local-reply mappers know to leave it as it is.
 * Envoy writes it into `response.code_details`.
 */
export const IMMEDIATE_RESPONSE_DETAILS = "gateway";

/** File name of a worker's Unix socket in the folder of sockets. */
export function workerSocketName(workerIndex: number): string {
  return `gateway-${workerIndex}.sock`;
}

/** File name of Envoy's admin interface in the folder of sockets. */
export const ENVOY_ADMIN_SOCKET_NAME = "envoy-admin.sock";

/** Envoy's runtime flag to half-close a finished ext_proc stream in place of resetting it. */
export const GRACEFUL_CLOSE_FLAG = "envoy.reloadable_features.ext_proc_graceful_grpc_close";
