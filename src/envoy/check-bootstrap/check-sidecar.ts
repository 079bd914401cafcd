/**
 * Checks of the sidecar's clusters, and of the runtime flag without which ext_proc's connections are closed
 * under requests in flight.
 */
import { GRACEFUL_CLOSE_FLAG } from "../names.ts";
import { WORKER_CHOICE_WHY } from "./check-manager.ts";
import { findAt, findUnless, type BootstrapFinding } from "./finding.ts";
import { HTTP_OPTIONS, SHARED_CONNECTION } from "../bootstrap/cluster-parts.ts";
import { MAX_CALLS_PER_NODE_CONNECTION } from "../bootstrap/sidecar-cluster.ts";
import {
  checkSettings,
  existsAsRendered,
  isAsRendered,
  formatFlow,
  isAtLeast,
  isAtLeastSeconds,
  type SettingRule,
} from "./setting-rule.ts";
import type { YamlView } from "./yaml-view.ts";

/** With less, a busy gateway answers 500 because it runs out of streams; Envoy's default is 1,024. */
const MIN_IN_FLIGHT = 10_000;
const FASTER_HEALTH_FIELDS = new Set(["unhealthy_interval", "no_traffic_healthy_interval"]);
const RETRY_WHY = "requests that a worker admitted just before its restart would fail.";
const BREAKER_WHY =
  "every request in flight needs one gRPC stream; above the limit (1,024 by default) requests return 500.";

const HTTP2 = [
  "typed_extension_protocol_options",
  HTTP_OPTIONS,
  "explicit_http_config",
  "http2_protocol_options",
];

const RETRY_POLICY = ["typed_extension_protocol_options", HTTP_OPTIONS, "retry_policy"];

const SHARED_FIELDS = Object.keys(SHARED_CONNECTION).filter((name) => !name.startsWith("#"));
const SHORT_CONNECTIONS = [
  "typed_extension_protocol_options",
  HTTP_OPTIONS,
  "common_http_protocol_options",
  "max_requests_per_connection",
];

const RULES: readonly SettingRule[] = [
  {
    check: "sidecar_http2",
    path: HTTP2,
    holds: existsAsRendered,
    why: "gRPC needs HTTP/2.",
    write: () => "http2_protocol_options: {}",
  },
  {
    check: "sidecar_keepalive",
    path: HTTP2,
    holds: (view) => !view.exists || isAtLeastSeconds(1)(view.at("connection_keepalive", "timeout")),
    why: "requests would wait fifteen minutes for a worker that hangs.",
    write: [...HTTP2, "connection_keepalive"],
  },
  {
    check: "shared_connection",
    path: HTTP2,
    holds: (view, rendered) =>
      !view.exists || SHARED_FIELDS.every((name) => view.at(name).number === rendered.at(name).number),
    why: "calls that clients cancel or don't read would end or stall the connection that all calls share.",
    write: (rendered) =>
      `http2_protocol_options: ${formatFlow(Object.fromEntries(SHARED_FIELDS.map((name) => [name, rendered.at(name).number])))}`,
  },
  {
    check: "sidecar_short_connections",
    path: SHORT_CONNECTIONS,
    holds: (view, rendered) =>
      !rendered.exists || (view.number ?? Infinity) <= (rendered.number ?? MAX_CALLS_PER_NODE_CONNECTION),
    why: "with `sidecar.transport: grpc-js`, Node closes a connection after 1,000 resets, and with it all other streams.",
  },
  {
    check: "sidecar_health",
    path: ["health_checks", 0, "grpc_health_check"],
    holds: existsAsRendered,
    why: "a worker that drains or has exited would still get requests.",
    write: (rendered) => `health_checks: [${formatHealthCheck(rendered.at("health_checks", 0))}]`,
  },
  {
    check: "sidecar_panic",
    path: ["common_lb_config", "healthy_panic_threshold"],
    // Envoy's configuration dump omits a value of 0.
    holds: (view, rendered) =>
      view.exists && (view.at("value").number ?? 0) <= (rendered.at("value").number ?? 0),
    why: "if half of the workers have exited, Envoy would send requests to them.",
  },
  {
    check: "worker_choice",
    path: ["load_balancing_policy"],
    holds: isAsRendered,
    why: WORKER_CHOICE_WHY,
  },
  {
    check: "sidecar_retries",
    path: [...RETRY_POLICY, "retry_on"],
    why: RETRY_WHY,
    write: RETRY_POLICY,
  },
  {
    check: "sidecar_retries",
    path: ["circuit_breakers", "thresholds", 0, "max_retries"],
    holds: isAtLeast(MIN_IN_FLIGHT),
    why: RETRY_WHY,
  },
  ...["max_connections", "max_pending_requests", "max_requests"].map((name) => ({
    check: "sidecar_circuit_breakers",
    path: ["circuit_breakers", "thresholds", 0, name],
    holds: isAtLeast(MIN_IN_FLIGHT),
    why: BREAKER_WHY,
  })),
];

/** Formats a health check without settings that only make it faster. */
function formatHealthCheck(check: YamlView): string {
  const needed = check.entries().filter(([name]) => !FASTER_HEALTH_FIELDS.has(name));
  return formatFlow(Object.fromEntries(needed.map(([name, { value }]) => [name, value])));
}

/** Checks a cluster of the sidecar. TLS-only workers are allowed. */
export function checkSidecar(cluster: YamlView, rendered: YamlView): BootstrapFinding[] {
  const transport = rendered.at("transport_socket").exists ? checkTransport(cluster) : [];
  return [...checkSettings(cluster, rendered, RULES), ...transport];
}

/** Checks the requirements of `sidecar.tls`: TLS, a client certificate, and a name to verify. */
function checkTransport(cluster: YamlView): BootstrapFinding[] {
  const socket = cluster.at("transport_socket");
  const context = socket.at("typed_config", "common_tls_context");
  const certificates = ["tls_certificate_sds_secret_configs", "tls_certificates"];
  const validation = [
    context.at("validation_context"),
    context.at("combined_validation_context", "default_validation_context"),
  ];
  const problem = (view: YamlView, message: string): BootstrapFinding[] =>
    findAt(view, {
      check: "sidecar_tls",
      message,
      fix: "Copy the cluster's `transport_socket` from `inference-gateway envoy render`.",
    });
  if (!socket.exists) return problem(cluster, "the workers accept only TLS (`sidecar.tls`).");
  if (!certificates.some((name) => context.at(name, 0).exists)) {
    return problem(context, "Envoy has no certificate, and the workers reject clients without one.");
  }
  if (validation.some((one) => one.at("match_typed_subject_alt_names", 0).exists)) return [];
  return problem(
    context,
    "Envoy doesn't check the name of the workers' certificate: any certificate of the same authorities could admit requests.",
  );
}

/** Checks the runtime layers, or the cluster of ext_proc. */
export function checkGracefulClose(root: YamlView, cluster: YamlView): BootstrapFinding[] {
  const layers = root.at("layered_runtime", "layers");
  const isSet = layers.items().some((layer) => isFlagSet(layer.at("static_layer")));
  const options = cluster.at(
    "typed_extension_protocol_options",
    HTTP_OPTIONS,
    "common_http_protocol_options",
  );
  const most = options.at("max_requests_per_connection").number;
  const isClosedEarly = most !== null && most <= MAX_CALLS_PER_NODE_CONNECTION;
  const flag = layers
    .items()
    .map((layer) => layer.at("static_layer", GRACEFUL_CLOSE_FLAG))
    .find(({ exists }) => exists);
  return findUnless(isSet || isClosedEarly, flag ?? root.at("layered_runtime"), {
    check: "graceful_close",
    message:
      "after about 1,000 finished streams, Node closes a connection that still has requests in flight.",
    fix:
      `Set \`${GRACEFUL_CLOSE_FLAG}: true\` in a static layer. If you can't, set ` +
      `\`max_requests_per_connection: ${MAX_CALLS_PER_NODE_CONNECTION}\` in the cluster's common_http_protocol_options.`,
  });
}

/** Handles both forms: with dots or as nested mappings. */
function isFlagSet(layer: YamlView): boolean {
  const spellings = [layer.at(GRACEFUL_CLOSE_FLAG), layer.at(...GRACEFUL_CLOSE_FLAG.split("."))];
  return spellings.some(({ value }) => value === true || value === "true");
}
