/** Checks of the HTTP filters: presence, order, and the protections in ext_authz and ext_proc. */
import { JWT_NAMESPACE } from "../names.ts";
import { checkGuardrails } from "./check-guardrails.ts";
import { WORKER_CHOICE_WHY } from "./check-manager.ts";
import { type BootstrapFinding, findAt, findUnless } from "./finding.ts";
import { FILTERS } from "./filter-types.ts";
import { findFilter, type Rendered } from "./rendered.ts";
import {
  checkSettings,
  existsAsRendered,
  hasRendered,
  isAsRendered,
  isAtLeastSeconds,
  isRendered,
  isSameAsRendered,
  type SettingRule,
} from "./setting-rule.ts";
import type { YamlView } from "./yaml-view.ts";

const ADMISSION_RULES: readonly SettingRule[] = [
  {
    check: "failure_mode_allow",
    path: ["failure_mode_allow"],
    holds: isRendered(false),
    why: "without a sidecar, requests would pass without a key.",
  },
  {
    check: "status_on_error",
    path: ["status_on_error", "code"],
    // Envoy's configuration dump writes the status as a name.
    holds: (view, rendered) => view.value === rendered.value || view.value === "ServiceUnavailable",
    why: "without a sidecar, Envoy would return 403, which clients don't retry.",
    write: ["status_on_error"],
  },
  {
    check: "timeouts",
    path: ["grpc_service", "timeout"],
    holds: isAtLeastSeconds(2),
    why: "the default of 200 ms is shorter than the sidecar's own wait for Redis.",
  },
  {
    check: "filter_enabled",
    path: ["filter_enabled"],
    holds: existsAsRendered,
    why: "requests outside this share would pass without a key.",
  },
  {
    check: "tokens",
    path: ["metadata_context_namespaces"],
    holds: hasRendered,
    why: "the sidecar wouldn't know whose token was verified, and would reject every token.",
  },
];

const TOKEN_RULES: readonly SettingRule[] = (["providers", "rules"] as const).map((name) => ({
  check: "tokens",
  path: [name],
  holds: isSameAsRendered,
  why: "Envoy would verify tokens differently from `gateway.yaml`, or not at all.",
  write: () => `${name} as in \`inference-gateway envoy render\``,
}));

const MODE_WHY =
  "the sidecar requests the modes that it needs in its replies; another setting costs a stream per rejection.";

const PROCESSING_RULES: readonly SettingRule[] = [
  {
    check: "failure_mode_allow",
    path: ["failure_mode_allow"],
    holds: isRendered(false),
    why: "requests that the sidecar can't see would pass and never be charged.",
  },
  {
    check: "mode_override",
    path: ["allow_mode_override"],
    why: "the sidecar couldn't request bodies, so every request would fail.",
  },
  {
    check: "message_timeout",
    path: ["message_timeout"],
    holds: isAtLeastSeconds(1),
    why: "the default of 200 ms is too short for a large body on a busy event loop.",
  },
  {
    check: "timeouts",
    path: ["grpc_service", "timeout"],
    holds: (view) => !view.exists || view.seconds === 0,
    why: "it ends the ext_proc stream, and with it the client's response.",
    write: () => "(nothing: remove the timeout)",
  },
  {
    check: "worker_choice",
    path: ["grpc_service", "initial_metadata"],
    holds: isAsRendered,
    why: WORKER_CHOICE_WHY,
  },
  {
    check: "mutation_rules",
    path: ["mutation_rules", "allow_all_routing"],
    why: "the sidecar couldn't choose the upstream.",
    write: ["mutation_rules"],
  },
  {
    check: "mutation_rules",
    path: ["mutation_rules", "allow_envoy"],
    why: "an upstream's own x-envoy-* headers would reach the client.",
    write: ["mutation_rules"],
  },
  {
    check: "response_attributes",
    path: ["response_attributes"],
    holds: hasRendered,
    why: "the sidecar couldn't distinguish an upstream's 503 from a reset, and charges would be wrong.",
    write: (rendered) => `response_attributes: ${JSON.stringify(rendered.at("response_attributes").value)}`,
  },
  {
    check: "metadata_options",
    path: ["metadata_options", "receiving_namespaces", "untyped"],
    holds: hasRendered,
    why: "the access log would lack key, model and cost.",
    write: ["metadata_options"],
  },
  mode("request_header_mode", "SEND"),
  mode("response_header_mode", "SEND"),
  mode("request_body_mode", "NONE"),
  mode("response_body_mode", "NONE"),
];

/** `usual`: Envoy's value if the field is missing or DEFAULT. */
function mode(name: string, usual: string): SettingRule {
  return {
    check: "processing_mode",
    path: ["processing_mode", name],
    holds: (view, rendered) => (view.exists && view.text !== "DEFAULT" ? view.text : usual) === rendered.text,
    why: MODE_WHY,
  };
}

/** Checks `http_filters` of a connection manager. */
export function checkFilters(filters: YamlView, rendered: Rendered): BootstrapFinding[] {
  const wanted = rendered.manager.at("http_filters");
  return [
    ...checkOrder(filters, wanted),
    ...checkClientPath(filters, wanted),
    ...filters.items().flatMap(findDisabled),
    ...checkTokenMetadata(filters, wanted),
    ...checkGuardrails(filters),
    ...checkFilter(filters, wanted, FILTERS.tokens, TOKEN_RULES),
    ...checkFilter(filters, wanted, FILTERS.admission, ADMISSION_RULES),
    ...checkFilter(filters, wanted, FILTERS.processing, PROCESSING_RULES),
  ];
}

function checkFilter(
  filters: YamlView,
  wanted: YamlView,
  type: string,
  rules: readonly SettingRule[],
): BootstrapFinding[] {
  const [found, right] = [findFilter(filters, type), findFilter(wanted, type)];
  if (found === undefined || right === undefined) return [];
  return checkSettings(found.at("typed_config"), right.at("typed_config"), rules);
}

/** Types that may be in other positions: see `checkClientPath`, and `checkGrpc` among the routes. */
const ANYWHERE: ReadonlySet<string> = new Set([FILTERS.clientPath, FILTERS.lua]);

/** Checks the order. If a type occurs more than once, its filters are matched by their position. */
function checkOrder(filters: YamlView, wanted: YamlView): BootstrapFinding[] {
  const all = filters.items();
  const order = wanted.items().filter((filter) => !ANYWHERE.has(filter.typeName));
  const positions = order.map((right, place) => {
    const before = order.slice(0, place).filter((one) => one.typeName === right.typeName).length;
    const alike = all.filter((one) => one.typeName === right.typeName);
    const found = before === 0 ? findFilter(filters, right.typeName) : alike[before];
    return {
      name: right.at("name").text.split(".").at(-1) ?? "",
      index: all.findIndex(({ path }) => path === found?.path),
    };
  });
  const orderText = positions.map(({ name }) => name).join(" → ");
  const missing = positions.filter(({ index }) => index === -1);
  const findings = missing.flatMap(({ name }) =>
    findAt(filters, {
      check: "filter_order",
      message: `this chain has no ${name} filter.`,
      fix: `Copy the filter from \`inference-gateway envoy render\`; the order is ${orderText}.`,
    }),
  );
  const present = positions.filter(({ index }) => index !== -1);
  const late = present.find(({ index }, place) =>
    present.slice(place + 1).some((next) => next.index < index),
  );
  if (late === undefined) return findings;
  const misplaced = findAt(filters.at(late.index), {
    check: "filter_order",
    message: `${late.name} comes too late: Envoy would read bodies, or choose upstreams, before it checked the key.`,
    fix: `Put the filters in the order ${orderText}.`,
  });
  return [...findings, ...misplaced];
}

function checkClientPath(filters: YamlView, wanted: YamlView): BootstrapFinding[] {
  const all = filters.items();
  const admission = all.findIndex((filter) => filter.typeName === FILTERS.admission);
  const before = admission === -1 ? all : all.slice(0, admission);
  const right = storedHeaders(findFilter(wanted, FILTERS.clientPath));
  const stored = before.filter((filter) => filter.typeName === FILTERS.clientPath).flatMap(storedHeaders);
  const isStored = right.every((header) => stored.includes(header));
  return findUnless(isStored, filters, {
    check: "client_path",
    message:
      "no filter stores the client's path before ext_authz: errors of the messages route would have the wrong format.",
    fix: "Copy the header_to_metadata filter from `inference-gateway envoy render`, before ext_authz.",
  });
}

/** Lists the headers that a filter saves: the client's path for error envelopes, and fields of the access log. */
function storedHeaders(filter: YamlView | undefined): string[] {
  const rules = filter?.at("typed_config", "request_rules").items() ?? [];
  return rules.map((rule) => {
    const target = rule.at("on_header_present");
    return `${rule.at("header").text} ${target.at("metadata_namespace").text} ${target.at("key").text}`;
  });
}

/**
 * Checks that no other filter writes Envoy's metadata of verified tokens, because it could forge the caller.
 * Compiled filters (Wasm, Go) cannot be inspected.
 */
function checkTokenMetadata(filters: YamlView, wanted: YamlView): BootstrapFinding[] {
  if (findFilter(wanted, FILTERS.tokens) === undefined) return [];
  const own = filters.items().findIndex(({ typeName }) => typeName === FILTERS.tokens);
  const admission = filters.items().findIndex(({ typeName }) => typeName === FILTERS.admission);
  return filters.items().flatMap((filter, place) => {
    if (place === own || place === admission) return [];
    const isWriter = filter.typeName === FILTERS.tokens || hasText(filter, JWT_NAMESPACE);
    return findUnless(!isWriter, filter, {
      check: "token_metadata",
      message: `the filter ${filter.at("name").text} can write to ${JWT_NAMESPACE}, so it could forge a verified token for the sidecar.`,
      fix: "Remove the filter, or give it another namespace.",
    });
  });
}

/** Returns whether any text below contains these words. */
function hasText(view: YamlView, words: string): boolean {
  if (view.text.includes(words)) return true;
  return [...view.items(), ...view.entries().map(([, child]) => child)].some((child) =>
    hasText(child, words),
  );
}

function findDisabled(filter: YamlView): BootstrapFinding[] {
  return findUnless(filter.at("disabled").value !== true, filter.at("disabled"), {
    check: "filter_order",
    message: `the filter ${filter.at("name").text} is disabled.`,
    fix: "Remove `disabled: true`.",
  });
}
