/**
 * HTTP filters in the order of a request: save the client's path → jwt_authn, if there are providers →
 * ext_authz → ext_proc → length → router. The order is a security property: nothing reads a body before its
 * key is admitted.
 */
import type { Config } from "../../shared/config/schema.ts";
import { REMAINING_HEADER } from "../../shared/contract/header-names.ts";
import {
  CHECKS_CLUSTER,
  CONTENT_LENGTH_FILTER,
  EDGE_METADATA_NAMESPACE,
  EDGE_METADATA_PATH,
  EDGE_METADATA_USER_AGENT,
  JWT_NAMESPACE,
  METADATA_NAMESPACE,
  PROCESSING_FILTER,
  SIDECAR_CLUSTER,
  WORKER_HEADER,
} from "../names.ts";
import { REQUEST_ID } from "./formatters.ts";
import { createGrpcReplyFilter } from "./grpc-requests.ts";
import { createTokenFilters } from "./jwt-providers.ts";
import { type EdgeTimeouts, formatSeconds, type ResolvedOptions } from "./render-options.ts";
import { type EnvoyNode, oneLine, typed } from "./yaml-document.ts";

/** Returns the `http_filters` of the HTTP connection manager. */
export function createHttpFilters(
  maxRequestBytes: number,
  options: ResolvedOptions,
  { jwt: { providers }, sidecar }: Pick<Config, "jwt" | "sidecar">,
): EnvoyNode[] {
  return [
    createGrpcReplyFilter(),
    createClientTextFilter(),
    ...(options.corsAllowOrigins.length === 0 ? [] : [createPreflightHeadersFilter(), createCorsFilter()]),
    ...createTokenFilters(providers),
    createAdmissionFilter(options.timeouts, providers.length > 0),
    createProcessingFilter(options.timeouts, sidecar),
    createContentLengthFilter(maxRequestBytes),
    createRouterFilter(),
  ];
}

/**
 * Prefixes of keys of the gateway and of upstreams ("sk-"), webhook secrets and tokens. Envoy accepts RE2
 * programs of up to 100 instructions, so the rest is not examined: the whole path segment or word is treated
 * as a credential.
 */
const CREDENTIAL_BEGINS = "(?i)(?:sk-igw-|\\bsk-|whsec_|igw_)";

function createClientTextFilter(): EnvoyNode {
  const rewrite = (
    header: string,
    key: string,
    { why, regex }: { why: string; regex: string },
  ): EnvoyNode => ({
    header,
    on_header_present: {
      metadata_namespace: EDGE_METADATA_NAMESPACE,
      key,
      "#regex_value_rewrite": why,
      regex_value_rewrite: oneLine({ pattern: { regex }, substitution: "" }),
    },
  });
  return {
    "#":
      "ext_proc rewrites :path; error envelopes, access log and spans go by the client's. In metadata and not in a " +
      "header: the upstream's filters take our headers off the very request that local replies are written from.",
    name: "envoy.filters.http.header_to_metadata",
    typed_config: typed("envoy.extensions.filters.http.header_to_metadata.v3.Config", {
      request_rules: [
        rewrite(":path", EDGE_METADATA_PATH, {
          why: "Without the query, and without each credential that somebody has put into the path: every match goes.",
          regex: `${CREDENTIAL_BEGINS}[^?/]*|[?].*$`,
        }),
        rewrite("user-agent", EDGE_METADATA_USER_AGENT, {
          why: "Without the words that are credentials.",
          regex: `${CREDENTIAL_BEGINS}[^ ]*`,
        }),
      ],
    }),
  };
}

function createPreflightHeadersFilter(): EnvoyNode {
  const add = (key: string, value: string): EnvoyNode => ({
    append: { header: oneLine({ key, value }), append_action: "ADD_IF_ABSENT" },
  });
  return {
    "#": "What every response carries, on a preflight that the next filter answers. Others have it already.",
    name: "envoy.filters.http.header_mutation",
    typed_config: typed("envoy.extensions.filters.http.header_mutation.v3.HeaderMutation", {
      mutations: {
        response_mutations: [
          add(REMAINING_HEADER, "0"),
          add("x-request-id", REQUEST_ID),
          add("request-id", REQUEST_ID),
        ],
      },
    }),
  };
}

function createCorsFilter(): EnvoyNode {
  return {
    "#": "Before ext_authz: a browser's preflight carries no key.",
    name: "envoy.filters.http.cors",
    typed_config: typed("envoy.extensions.filters.http.cors.v3.Cors"),
  };
}

function createAdmissionFilter(timeouts: EdgeTimeouts, knowsTokens: boolean): EnvoyNode {
  return {
    "#": "Who calls, and may they: key, bucket, caps. Headers only, one unary call.",
    name: "envoy.filters.http.ext_authz",
    typed_config: typed("envoy.extensions.filters.http.ext_authz.v3.ExtAuthz", {
      transport_api_version: "V3",
      "#grpc_service": "The default timeout of 200 ms is too short for a busy event loop.",
      grpc_service: {
        envoy_grpc: oneLine({ cluster_name: CHECKS_CLUSTER }),
        timeout: formatSeconds(timeouts.admissionSeconds),
      },
      "#failure_mode_allow": "No sidecar, no request: 503, never a request without a key.",
      failure_mode_allow: false,
      status_on_error: oneLine({ code: 503 }),
      charge_cluster_response_stats: true,
      "#disallowed_headers": "The sidecar has no use for it.",
      disallowed_headers: {
        patterns: [oneLine({ exact: "cookie" })],
      },
      ...(knowsTokens
        ? {
            "#metadata_context_namespaces":
              "What the filter before has found out; nothing where there is no token.",
            metadata_context_namespaces: oneLine([JWT_NAMESPACE]),
          }
        : {}),
    }),
  };
}

/**
 * Returns the metadata by which ext_proc calls the worker that ext_authz named. Empty on TCP, where workers don't
 * know their names in Envoy's cluster.
 */
function createWorkerChoice({ tcp }: Config["sidecar"]): EnvoyNode {
  if (tcp !== null) return {};
  return {
    "#initial_metadata": "The worker that ext_authz names decides the request, see docs/internals/envoy.md.",
    initial_metadata: [oneLine({ key: WORKER_HEADER, value: `%REQ(${WORKER_HEADER})%` })],
  };
}

const REQUEST_HEADERS_ALONE = {
  request_header_mode: "SEND",
  response_header_mode: "SKIP",
  request_body_mode: "NONE",
  response_body_mode: "NONE",
  request_trailer_mode: "SKIP",
  response_trailer_mode: "SKIP",
};

function createProcessingFilter(timeouts: EdgeTimeouts, sidecar: Config["sidecar"]): EnvoyNode {
  return {
    "#": "Which model, in which protocol, and what it cost: one stream per admitted request.",
    name: PROCESSING_FILTER,
    typed_config: typed("envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor", {
      "#grpc_service": "No timeout here: it would end the stream, and with it the client's answer.",
      grpc_service: {
        envoy_grpc: oneLine({ cluster_name: SIDECAR_CLUSTER }),
        ...createWorkerChoice(sidecar),
      },
      "#failure_mode_allow":
        "A request that the sidecar cannot see is not answered: it could not be charged.",
      failure_mode_allow: false,
      "#processing_mode":
        "Only request headers unless the sidecar asks for more in its reply to them. With response headers on, every " +
        "refusal of ext_authz would open a stream too. The last route sends the request's body behind them: set here, " +
        "that mode would keep the sidecar from asking.",
      processing_mode: REQUEST_HEADERS_ALONE,
      allow_mode_override: true,
      "#message_timeout": "For one reply of the sidecar, not for the upstream. The default is 200 ms.",
      message_timeout: formatSeconds(timeouts.processingSeconds),
      "#response_attributes":
        "Tells an upstream's own 503 from a reset and from no upstream reached; how many servers were tried.",
      response_attributes: oneLine(["response.code_details", "upstream.request_attempt_count"]),
      "#mutation_rules":
        "The reply to a request body chooses the upstream and rewrites :path; an upstream's x-envoy-* headers go.",
      mutation_rules: oneLine({ allow_all_routing: true, allow_envoy: true }),
      "#metadata_options": "What the access log writes of a request.",
      metadata_options: {
        receiving_namespaces: oneLine({ untyped: [METADATA_NAMESPACE] }),
      },
      "#forward_rules": "After admission nobody needs the client's key.",
      forward_rules: {
        disallowed_headers: {
          patterns: ["authorization", "x-api-key", "cookie"].map((exact) => oneLine({ exact })),
        },
      },
    }),
  };
}

function createContentLengthFilter(maxRequestBytes: number): EnvoyNode {
  return {
    "#":
      "ext_proc drops content-length of a body that it replaces; this filter, which gets that body in one piece, writes it. " +
      "Some model servers take no chunked request.",
    name: CONTENT_LENGTH_FILTER,
    typed_config: createBuffer(maxRequestBytes),
  };
}

function createBuffer(maxRequestBytes: number): EnvoyNode {
  return typed("envoy.extensions.filters.http.buffer.v3.Buffer", { max_request_bytes: maxRequestBytes });
}

/**
 * Returns the `typed_per_filter_config` of a route whose requests send their body without waiting for the
 * sidecar's reply to the headers, so that the sidecar gets the whole request and answers it once.
 */
export function createUnpausedBody(): EnvoyNode {
  return {
    [PROCESSING_FILTER]: typed("envoy.extensions.filters.http.ext_proc.v3.ExtProcPerRoute", {
      overrides: {
        processing_mode: {
          ...REQUEST_HEADERS_ALONE,
          request_body_mode: "FULL_DUPLEX_STREAMED",
          request_trailer_mode: "SEND",
        },
      },
    }),
  };
}

function createRouterFilter(): EnvoyNode {
  return {
    name: "envoy.filters.http.router",
    typed_config: typed("envoy.extensions.filters.http.router.v3.Router", {
      "#suppress_envoy_headers": "No x-envoy-* header towards clients or upstreams.",
      suppress_envoy_headers: true,
    }),
  };
}
