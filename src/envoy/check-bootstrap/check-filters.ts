/** The HTTP filters: which there are, in which order, and the locks in ext_authz and ext_proc. */
import { METADATA_NAMESPACE } from "../names.ts";
import { keepsClientPath } from "./check-manager.ts";
import { type BootstrapFinding, createFinding } from "./finding.ts";
import { FILTERS } from "./filter-types.ts";
import { checkSettings, is, isAtLeastSeconds, type SettingRule } from "./setting-rule.ts";
import type { YamlView } from "./yaml-view.ts";

/** In the order in which a request passes them. */
const ORDER = [
  ["ext_authz", FILTERS.admission],
  ["buffer", FILTERS.buffer],
  ["ext_proc", FILTERS.processing],
  ["router", FILTERS.router],
] as const;
const ORDER_TEXT = ORDER.map(([name]) => name).join(" → ");

const ADMISSION_RULES: readonly SettingRule[] = [
  {
    check: "failure_mode_allow",
    path: ["failure_mode_allow"],
    holds: is(false, false),
    why: "without a sidecar, requests would pass without a key.",
    write: "failure_mode_allow: false",
  },
  {
    check: "status_on_error",
    path: ["status_on_error", "code"],
    holds: (view) => view.value === 503 || view.value === "ServiceUnavailable",
    why: "a sidecar that is gone would answer 403, which clients do not try again.",
    write: "status_on_error: {code: 503}",
  },
  {
    check: "timeouts",
    path: ["grpc_service", "timeout"],
    holds: isAtLeastSeconds(0.5),
    why: "the default of 200 ms is shorter than the sidecar's own wait for Redis.",
    write: "timeout: 2s",
  },
  {
    check: "filter_enabled",
    path: ["filter_enabled"],
    holds: (view) => !view.exists,
    why: "requests outside of its share would pass without a key.",
    write: "(nothing: remove filter_enabled)",
  },
];

const MODE_WHY =
  "the sidecar asks for what it needs in its reply to the request headers; more costs a stream per refusal.";

const PROCESSING_RULES: readonly SettingRule[] = [
  {
    check: "failure_mode_allow",
    path: ["failure_mode_allow"],
    holds: is(false, false),
    why: "a request that the sidecar cannot see would be answered and never charged.",
    write: "failure_mode_allow: false",
  },
  {
    check: "mode_override",
    path: ["allow_mode_override"],
    holds: is(true),
    why: "the sidecar could not ask for bodies: every request would fail.",
    write: "allow_mode_override: true",
  },
  {
    check: "message_timeout",
    path: ["message_timeout"],
    holds: isAtLeastSeconds(1),
    why: "the default of 200 ms is too short for a large body on a busy event loop.",
    write: "message_timeout: 5s",
  },
  {
    check: "timeouts",
    path: ["grpc_service", "timeout"],
    holds: (view) => !view.exists || view.seconds === 0,
    why: "it ends the ext_proc stream, and with it the client's answer.",
    write: "(nothing: remove the timeout)",
  },
  {
    check: "mutation_rules",
    path: ["mutation_rules", "allow_all_routing"],
    holds: is(true),
    why: "the sidecar could not choose the upstream.",
    write: "mutation_rules: {allow_all_routing: true, allow_envoy: true}",
  },
  {
    check: "mutation_rules",
    path: ["mutation_rules", "allow_envoy"],
    holds: is(true),
    why: "an upstream's own x-envoy-* headers would reach the client.",
    write: "mutation_rules: {allow_all_routing: true, allow_envoy: true}",
  },
  {
    check: "response_attributes",
    path: ["response_attributes"],
    holds: listHas("response.code_details"),
    why: "the sidecar could not tell an upstream's 503 from a reset, and charges would be wrong.",
    write: 'response_attributes: ["response.code_details"]',
  },
  {
    check: "metadata_options",
    path: ["metadata_options", "receiving_namespaces", "untyped"],
    holds: listHas(METADATA_NAMESPACE),
    why: "the access log would not know key, model and cost.",
    write: `metadata_options: {receiving_namespaces: {untyped: [${METADATA_NAMESPACE}]}}`,
  },
  mode("request_header_mode", ["SEND", "DEFAULT"], "SEND"),
  mode("response_header_mode", ["SKIP"], "DEFAULT"),
  mode("request_body_mode", ["NONE"], "NONE"),
  mode("response_body_mode", ["NONE"], "NONE"),
];

function mode(name: string, right: readonly string[], whenMissing: string): SettingRule {
  return {
    check: "processing_mode",
    path: ["processing_mode", name],
    holds: (view) => right.includes(view.exists ? view.text : whenMissing),
    why: MODE_WHY,
    write: `${name}: ${right[0] ?? ""}`,
  };
}

function listHas(member: string): (view: YamlView) => boolean {
  return (view) => view.items().some((item) => item.text === member);
}

/** Findings in `http_filters` of a connection manager. */
export function checkFilters(filters: YamlView): BootstrapFinding[] {
  const all = filters.items();
  const first = (type: string) => all.find((filter) => filter.typeName === type);
  const admission = first(FILTERS.admission)?.at("typed_config");
  const processing = first(FILTERS.processing)?.at("typed_config");
  return [
    ...checkOrder(filters),
    ...checkClientPath(filters),
    ...all.filter((filter) => filter.at("disabled").value === true).map(createDisabledFinding),
    ...(admission === undefined ? [] : checkSettings(admission, ADMISSION_RULES)),
    ...(processing === undefined ? [] : checkSettings(processing, PROCESSING_RULES)),
  ];
}

function checkOrder(filters: YamlView): BootstrapFinding[] {
  const all = filters.items();
  const positions = ORDER.map(([name, type]) => ({
    name,
    index: all.findIndex((one) => one.typeName === type),
  }));
  const missing = positions.filter(({ index }) => index === -1);
  const findings = missing.map(({ name }) =>
    createFinding(filters, {
      check: "filter_order",
      message: `there is no ${name} filter in this chain.`,
      fix: `The order is ${ORDER_TEXT}; take the filter over from \`inference-gateway envoy render\`.`,
    }),
  );
  const present = positions.filter(({ index }) => index !== -1);
  const late = present.find(({ index }, place) =>
    present.slice(place + 1).some((next) => next.index < index),
  );
  if (late === undefined) return findings;
  const text = {
    check: "filter_order",
    message: `${late.name} stands too late: bodies would be read, or upstreams chosen, before the key was admitted.`,
    fix: `Put the filters in the order ${ORDER_TEXT}.`,
  };
  return [...findings, createFinding(filters.at(late.index), text)];
}

function checkClientPath(filters: YamlView): BootstrapFinding[] {
  const all = filters.items();
  const admission = all.findIndex((filter) => filter.typeName === FILTERS.admission);
  const before = admission === -1 ? all : all.slice(0, admission);
  if (before.some((filter) => filter.typeName === FILTERS.clientPath && keepsClientPath(filter))) return [];
  const text = {
    check: "client_path",
    message:
      "the client's path is not kept before ext_authz: errors of the messages route would have the wrong envelope.",
    fix: "Take the header_to_metadata filter over from `inference-gateway envoy render`, before ext_authz.",
  };
  return [createFinding(filters, text)];
}

function createDisabledFinding(filter: YamlView): BootstrapFinding {
  return createFinding(filter.at("disabled"), {
    check: "filter_order",
    message: `the filter ${filter.at("name").text} is switched off.`,
    fix: "Remove `disabled: true`.",
  });
}
