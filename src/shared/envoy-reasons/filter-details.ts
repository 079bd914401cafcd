/**
 * Response code details of Envoy's HTTP filters: those of the gateway's own chain, and of filters that
 * operators may add.
 */
import { type Reason, reason } from "./reason.ts";
import { FLAGS } from "./response-flags.ts";

const DECIDED = reason(
  "gateway",
  "the gateway itself sent the response",
  "client",
  "The response's error code shows why; `inference-gateway explain` shows every check of the request.",
);
const SIDECAR_LOST = reason(
  "gateway",
  "the gateway's worker exited, or took too long, before the request had its response",
  "gateway",
  "The gateway restarts its worker, and the client can retry. If this happens often, run `inference-gateway doctor` and search the log for `worker exited unexpectedly`. An unreachable endpoint picker of the upstream looks the same.",
);
const refused = (text: string, todo: string): Reason => reason("gateway", text, "client", todo);
const misconfigured = (text: string, todo: string): Reason => reason("gateway", text, "operator", todo);

const TRANSCODING = misconfigured(
  "a transcoder in Envoy couldn't convert the request or response",
  "Remove the gRPC-JSON transcoder from the gateway's routes.",
);
const HEALTH_CHECK = misconfigured(
  "a health check filter in Envoy sent the response",
  "Remove this filter from the gateway's routes; the gateway's own health is at `/healthz`.",
);
const LOOP = misconfigured(
  "Envoy detected a loop",
  "Check the proxies before the gateway: one of them sends requests back to it.",
);

/** Reasons by the start of the details. */
export const FILTER_DETAILS: Readonly<Record<string, Reason>> = {
  // Gateway's own chain.
  gateway: DECIDED,
  ext_authz_denied: DECIDED,
  ext_authz_error: FLAGS.UAEX,
  ext_authz_invalid: misconfigured(
    "Envoy couldn't apply the headers of the gateway's admission",
    "Render the bootstrap again: Envoy and the gateway have different versions, or a filter was changed.",
  ),
  ext_proc_error: SIDECAR_LOST,
  failed_to_inject_credential: misconfigured(
    "Envoy has no credential for {upstream}",
    "Check the upstream's `credential`: Envoy can't read its file or variable. `inference-gateway doctor` names it.",
  ),
  // Other filters.
  rbac_access_denied: refused(
    "an RBAC rule in Envoy's configuration rejected the request",
    "Ask the operator about the policy, whose name is in brackets.",
  ),
  jwt_authn_access_denied: refused(
    "a check of JSON web tokens in Envoy's configuration rejected the request",
    "Send the token that this check requires; the text in braces shows what was wrong.",
  ),
  oauth: refused("a sign-in (OAuth 2) in Envoy's configuration rejected the request", "Sign in again."),
  csrf_origin_mismatch: refused(
    "an origin check (CSRF) in Envoy's configuration rejected the request",
    "Call from an origin that the check lists.",
  ),
  local_rate_limited: FLAGS.RL,
  connection_rate_limited: FLAGS.RL,
  request_rate_limited: FLAGS.RL,
  rate_limited_by_quota: FLAGS.RL,
  rate_limiter_error: FLAGS.RLSE,
  denied_by_admission_control: refused(
    "Envoy's admission control rejected the request, because too many earlier requests failed",
    "Wait and retry. Ask the operator why requests fail.",
  ),
  reached_concurrency_limit: refused(
    "Envoy's adaptive concurrency rejected the request, because too many requests were in flight",
    "Wait and retry.",
  ),
  fault_filter_abort: FLAGS.FI,
  response_from_cache_filter: FLAGS.RFCF,
  "cache.response_from_cache_filter": FLAGS.RFCF,
  lua_response: refused(
    "a Lua script in Envoy's configuration sent the response",
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
    "a custom response in Envoy's configuration redirects to an unknown route",
    "Correct its redirect.",
  ),
  dns_resolution_failure: FLAGS.DF,
  sub_cluster_warming_timeout: misconfigured(
    "a cluster that Envoy creates on demand wasn't ready in time",
    "Check the dynamic forward proxy in Envoy's configuration.",
  ),
  on_demand_cluster_timeout: misconfigured(
    "a cluster that Envoy fetches on demand wasn't ready in time",
    "Check the control plane that serves the cluster.",
  ),
};
