/**
 * Response code details of Envoy's HTTP filters: those of the gateway's own chain, and of filters that
 * operators may add.
 */
import { type Reason, reason } from "./reason.ts";
import { FLAGS } from "./response-flags.ts";

const DECIDED = reason(
  "gateway",
  "the gateway gave the answer itself",
  "client",
  "The answer's error code says why; `explain` has every check of the request.",
);
const SIDECAR_LOST = reason(
  "gateway",
  "the gateway's worker was lost, or took too long, before the request had its answer",
  "gateway",
  "It starts a lost worker again, and the request can be sent again. If it comes often, the operator runs `inference-gateway doctor` and looks for `worker exited unexpectedly` in the log; an endpoint picker of the upstream that is gone says the same.",
);
const refused = (says: string, todo: string): Reason => reason("gateway", says, "client", todo);
const misconfigured = (says: string, todo: string): Reason => reason("gateway", says, "operator", todo);

const TRANSCODING = misconfigured(
  "a transcoder in Envoy could not convert the request or its answer",
  "Take the gRPC-JSON transcoder off the gateway's routes.",
);
const HEALTH_CHECK = misconfigured(
  "a health check filter in Envoy gave the answer",
  "Take that filter off the gateway's routes; the gateway's own health is at `/healthz`.",
);
const LOOP = misconfigured(
  "Envoy saw that the request went in a circle",
  "Look at the proxies before the gateway: one sends requests back to it.",
);

/** Reasons by the start of the details. */
export const FILTER_DETAILS: Readonly<Record<string, Reason>> = {
  // Gateway's own chain.
  gateway: DECIDED,
  ext_authz_denied: DECIDED,
  ext_authz_error: FLAGS.UAEX,
  ext_authz_invalid: misconfigured(
    "Envoy could not put on what the gateway's admission wrote",
    "Envoy and the gateway are of different versions, or a filter was changed: render the bootstrap again.",
  ),
  ext_proc_error: SIDECAR_LOST,
  failed_to_inject_credential: misconfigured(
    "Envoy has no credential for {upstream}",
    "Look at the upstream's `credential`: its file or variable cannot be read by Envoy. `inference-gateway doctor` names it.",
  ),
  // Other filters.
  rbac_access_denied: refused(
    "a rule of RBAC in Envoy's configuration refused the request",
    "The policy's name is in brackets; it is the operator's own.",
  ),
  jwt_authn_access_denied: refused(
    "a check of JSON web tokens in Envoy's configuration refused the request",
    "Send the token that this check wants; what was wrong is in braces.",
  ),
  oauth: refused("a sign-in (OAuth 2) in Envoy's configuration refused the request", "Sign in again."),
  csrf_origin_mismatch: refused(
    "a check of origins (CSRF) in Envoy's configuration refused the request",
    "Call from an origin that it lists.",
  ),
  local_rate_limited: FLAGS.RL,
  connection_rate_limited: FLAGS.RL,
  request_rate_limited: FLAGS.RL,
  rate_limited_by_quota: FLAGS.RL,
  rate_limiter_error: FLAGS.RLSE,
  denied_by_admission_control: refused(
    "Envoy's admission control refused the request, because too many before it failed",
    "Wait and try again; the operator looks at why requests fail.",
  ),
  reached_concurrency_limit: refused(
    "Envoy's adaptive concurrency refused the request: as many as it lets in were in flight",
    "Wait and try again.",
  ),
  fault_filter_abort: FLAGS.FI,
  response_from_cache_filter: FLAGS.RFCF,
  "cache.response_from_cache_filter": FLAGS.RFCF,
  lua_response: refused(
    "a Lua script in Envoy's configuration gave the answer",
    "Ask the operator what it checks.",
  ),
  grpc_json_transcode_failure: TRANSCODING,
  early_grpc_json_transcode_failure: TRANSCODING,
  grpc_json_reverse_transcode_failure: TRANSCODING,
  early_grpc_json_reverse_transcode_failure: TRANSCODING,
  grpc_bridge_data_too_small: TRANSCODING,
  health_check: HEALTH_CHECK,
  cdn_loop_detected: LOOP,
  invalid_cdn_loop_header: LOOP,
  custom_response_redirect_no_route: misconfigured(
    "a custom response in Envoy's configuration leads nowhere",
    "Correct its redirect.",
  ),
  dns_resolution_failure: FLAGS.DF,
  sub_cluster_warming_timeout: misconfigured(
    "a cluster that Envoy makes when it is asked for was not there in time",
    "Look at the dynamic forward proxy in Write Envoy's configuration.",
  ),
  on_demand_cluster_timeout: misconfigured(
    "a cluster that Envoy fetches when it is asked for was not there in time",
    "Look at the control plane that serves the cluster.",
  ),
};
