/**
 * Names shared by Envoy's configuration and the sidecar. The bootstrap is rendered from them, and the gRPC handlers
 * read and write by them, so a change here changes both sides.
 */

/** Envoy's cluster of the sidecar's workers, one endpoint per worker: for ext_proc and the reports of ends. */
export const SIDECAR_CLUSTER = "sidecar";

/** The same workers for ext_authz. Another cluster has other connections: without the bodies of ext_proc. */
export const CHECKS_CLUSTER = "sidecar-checks";

export const WORKER_CLUSTERS: readonly string[] = [SIDECAR_CLUSTER, CHECKS_CLUSTER];

/** Prefix of the gateway's own request headers; Envoy removes such headers of clients. */
export const INTERNAL_HEADER_PREFIX = "x-igw-";

/** Set by an endpoint picker after the gateway's filters to name the server; never by clients. */
export const ENDPOINT_HEADER = "x-gateway-destination-endpoint";

/**
 * Set by ext_authz's OK reply, read by ext_proc: the admission as one line of ASCII, or the request id of a deferred
 * one.
 */
export const ADMISSION_HEADER = "x-igw-admission";

/**
 * Names the worker that ext_proc must call, by its Unix socket. Envoy sets `ANY_WORKER` before ext_authz, so that a
 * worker knows that Envoy follows the header. If the worker defers the admission, ext_authz's OK reply names it.
 */
export const WORKER_HEADER = "x-igw-worker";
export const ANY_WORKER = "any";

/** Set by ext_proc: the cluster, which is the upstream's name in the configuration. */
export const UPSTREAM_HEADER = "x-igw-upstream";

/**
 * Set for the sidecar on Envoy's own reply if an upstream broke its connection: the connection's age in microseconds
 * before the request ("" or "-" if it is younger), and the number of bytes received.
 */
export const LOST_CONNECTION_HEADER = "x-igw-lost-connection";

/**
 * Dynamic metadata that Envoy sets before ext_authz. `path` is the client's path after normalization, without its
 * query. Error envelopes and the access log need it, because ext_proc rewrites `:path`.
 */
export const EDGE_METADATA_NAMESPACE = "inference_gateway_edge";
export const EDGE_METADATA_PATH = "path";
export const EDGE_METADATA_USER_AGENT = "user_agent";

/** Envoy's name of ext_proc: in the filter chain, in per-route settings, and for the attributes that it sends. */
export const PROCESSING_FILTER = "envoy.filters.http.ext_proc";

/** A buffer filter under its own name, so that per-route settings of an operator's buffer filter do not affect it. */
export const CONTENT_LENGTH_FILTER = "inference_gateway.content_length";

/** Restores the original form of replies to requests with a gRPC content type. */
export const GRPC_REPLY_FILTER = "inference_gateway.grpc_reply";

/** Dynamic metadata of ext_proc's replies for the access log; see `ACCESS_LOG_METADATA`. */
export const METADATA_NAMESPACE = "inference_gateway";

/**
 * Envoy's namespace for the dynamic metadata of ext_authz: the caller of a rejected request, or the state of the
 * key's bucket. Only for local replies and the access log; not forwarded to ext_proc, which would get it with every
 * message.
 */
export const ADMISSION_NAMESPACE = "envoy.filters.http.ext_authz";

/**
 * Envoy's namespace for its findings on a request's token, for ext_authz: `verified.<provider>` (claims),
 * `header.<provider>` (token header) and `failed.<provider>` (reason). Client headers cannot set it.
 */
export const JWT_NAMESPACE = "envoy.filters.http.jwt_authn";
export const VERIFIED_PREFIX = "verified.";
export const FAILED_PREFIX = "failed.";
export const TOKEN_HEADER_PREFIX = "header.";
/** Longest header whose token Envoy verifies. A longer one costs milliseconds per provider. */
export const MAX_TOKEN_HEADER_BYTES = 16_384;

/**
 * Dynamic metadata by which a guardrail between the gateway's filters says that it has blocked a request or a
 * response: `reason`, a short text such as "pii". No client can set it.
 */
export const GUARDRAIL_NAMESPACE = "inference_gateway_guardrail";
export const GUARDRAIL_REASON = "reason";

/** Names of the custom tags in the reports of ends. */
export const REPORT_TAGS = {
  /** Why a guardrail has blocked; absent: none has. */
  guardrail: "guardrail",
  /** The admission header, until the request goes upstream. */
  admission: "admission",
  /** Set by ext_proc: absent if the request never reached it. */
  organization: "organization_id",
} as const;

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
 * `details` of every ImmediateResponse of the sidecar, written by Envoy into `response.code_details`. Local-reply
 * mappers leave such responses unchanged.
 */
export const IMMEDIATE_RESPONSE_DETAILS = "gateway";

/** File name of a worker's Unix socket in the socket directory. */
export function workerSocketName(workerIndex: number): string {
  return `gateway-${workerIndex}.sock`;
}

/** File name of Envoy's admin interface in the socket directory. */
export const ENVOY_ADMIN_SOCKET_NAME = "envoy-admin.sock";

/** Envoy's runtime flag to half-close a finished ext_proc stream in place of resetting it. */
export const GRACEFUL_CLOSE_FLAG = "envoy.reloadable_features.ext_proc_graceful_grpc_close";
