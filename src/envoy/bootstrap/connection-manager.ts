/**
 * HTTP connection manager: requirements of a request before any filter sees it. Together with the last route
 * and the sidecar's own check, it prevents requests from being routed without an admission.
 */
import { formatErrorReference } from "../../shared/config/documentation.ts";
import type { Config } from "../../shared/config/schema.ts";
import { ANY_WORKER, ENDPOINT_HEADER, INTERNAL_HEADER_PREFIX, WORKER_HEADER } from "../names.ts";
import { createAccessLog } from "./access-log.ts";
import type { BodyLimits } from "./body-limits.ts";
import { createEndReports } from "./end-reports.ts";
import { createHttpFilters } from "./filters.ts";
import { createLocalReplyConfig } from "./local-replies.ts";
import { type EdgeTimeouts, formatSeconds, type ResolvedOptions } from "./render-options.ts";
import { createRouteConfig } from "./routes.ts";
import { createTracing } from "./tracing.ts";
import { type EnvoyNode, oneLine, typed } from "./yaml-document.ts";

const MEBIBYTE = 1024 ** 2;

/** Returns the listener's network filter. */
export function createConnectionManager(
  limits: BodyLimits,
  options: ResolvedOptions,
  config: Pick<Config, "telemetry" | "jwt" | "sidecar" | "documentationUrl" | "dashboard" | "admin">,
): EnvoyNode {
  const { otlp } = config.telemetry;
  const reference = formatErrorReference(config);
  const message = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";
  return {
    name: "envoy.filters.network.http_connection_manager",
    typed_config: typed(message, {
      stat_prefix: "gateway",
      codec_type: "AUTO",
      server_name: "inference-gateway",
      ...createPathRules(),
      ...createClientIdentity(options.trustedHops),
      early_header_mutation_extensions: [createEarlyMutation(otlp !== null, config.sidecar.tcp === null)],
      ...createTimeouts(options.timeouts),
      ...createProtocolLimits(limits.streamWindowBytes, options.timeouts),
      access_log: [createAccessLog(options.accessLogFile), createEndReports()],
      ...createTracing(otlp),
      "#local_reply_config": "Envoy's own replies in the gateway's shape, see docs/envoy.md.",
      local_reply_config: createLocalReplyConfig(reference),
      route_config: createRouteConfig(options, {
        documentation: config.documentationUrl ?? reference,
        dashboard: config.dashboard.baseUrl,
      }),
      http_filters: createHttpFilters(limits.maxRequestBytes, options, config),
    }),
  };
}

function createPathRules(): EnvoyNode {
  return {
    "#normalize_path": "One spelling of every path, for routes and filters alike.",
    normalize_path: true,
    merge_slashes: true,
    "#path_with_escaped_slashes_action": "The slash in a model's id may come as %2F.",
    path_with_escaped_slashes_action: "KEEP_UNCHANGED",
  };
}

function createClientIdentity(trustedHops: number): EnvoyNode {
  return {
    "#use_remote_address":
      "Envoy is the edge: what clients claim about their address and about Envoy is not believed.",
    use_remote_address: true,
    xff_num_trusted_hops: trustedHops,
    "#generate_request_id":
      "The id is set below, in the gateway's own form; ext_authz replaces it by the id of the admission. " +
      "always_set_request_id_in_response stays off: it would overwrite the id of a refusal.",
    generate_request_id: false,
    preserve_external_request_id: true,
    always_set_request_id_in_response: false,
  };
}

/**
 * Returns a mutation that runs before routing. Envoy samples traces by the request id, and only if it is a
 * plain UUID; ext_authz replaces it by the gateway's own form, so the plain form is only visible in requests
 * that Envoy rejects earlier.
 */
function createEarlyMutation(hasTraces: boolean, namesWorkers: boolean): EnvoyNode {
  const requestId = hasTraces ? "%UNIQUE_ID%" : "req_%UNIQUE_ID%";
  const remove = (prefix: string) => oneLine({ remove_on_match: { key_matcher: { prefix } } });
  const set = (key: string, value: string): EnvoyNode => ({
    append: { header: oneLine({ key, value }), append_action: "OVERWRITE_IF_EXISTS_OR_ADD" },
  });
  return {
    name: "envoy.http.early_header_mutation.header_mutation",
    typed_config: typed("envoy.extensions.http.early_header_mutation.header_mutation.v3.HeaderMutation", {
      mutations: [
        {
          "#": "Nobody forges an admission or chooses an upstream …",
          ...(remove(INTERNAL_HEADER_PREFIX).value as EnvoyNode),
        },
        {
          "#": "… or has Envoy retry, time out or re-route by its x-envoy-* headers.",
          ...(remove("x-envoy-").value as EnvoyNode),
        },
        {
          "#": "An endpoint picker's choice, where one stands behind: no client reaches what it names.",
          ...(remove(ENDPOINT_HEADER).value as EnvoyNode),
        },
        {
          "#": "A client's own request id is never taken for ours.",
          ...set("x-request-id", requestId),
        },
        ...(namesWorkers
          ? [
              {
                "#": "ext_authz may name the worker that ext_proc calls, see load_balancing_policy.",
                ...set(WORKER_HEADER, ANY_WORKER),
              },
            ]
          : []),
      ],
    }),
  };
}

function createTimeouts(timeouts: EdgeTimeouts): EnvoyNode {
  return {
    request_headers_timeout: formatSeconds(timeouts.requestHeadersSeconds),
    "#request_timeout": "For the request alone, headers and body: 408.",
    request_timeout: formatSeconds(timeouts.requestSeconds),
    "#stream_idle_timeout": "SDKs wait ten minutes for an answer that is not streamed: 504 after that.",
    stream_idle_timeout: formatSeconds(timeouts.streamIdleSeconds),
    "#drain_timeout": "An idle connection that is closed for want of memory holds its memory for so long.",
    drain_timeout: "1s",
  };
}

function createProtocolLimits(streamWindowBytes: number, { connectionIdleSeconds }: EdgeTimeouts): EnvoyNode {
  return {
    max_request_headers_kb: 60,
    common_http_protocol_options: {
      "#idle_timeout": "Longer than load balancers keep a connection (600 s), which are to close it first.",
      idle_timeout: formatSeconds(connectionIdleSeconds),
      max_headers_count: 100,
      "#headers_with_underscores_action": "Some servers take x_api_key for x-api-key.",
      headers_with_underscores_action: "DROP_HEADER",
    },
    "#http2_protocol_options":
      "Agents open some dozens of streams at once. Envoy's limits on resets and floods stay at their defaults.",
    http2_protocol_options: {
      max_concurrent_streams: 256,
      "#initial_stream_window_size": "No more than per_connection_buffer_limit_bytes, see there.",
      initial_stream_window_size: streamWindowBytes,
      initial_connection_window_size: 4 * MEBIBYTE,
    },
  };
}
