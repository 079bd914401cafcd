/**
 * Checks guardrails: ext_proc filters of other services before the gateway's. They read requests as clients send
 * them, so they belong after ext_authz, and must neither see nor change keys and admissions.
 */
import { ADMISSION_HEADER, GUARDRAIL_NAMESPACE, INTERNAL_HEADER_PREFIX } from "../names.ts";
import { type BootstrapFinding, findUnless } from "./finding.ts";
import { FILTERS } from "./filter-types.ts";
import { findFilter } from "./rendered.ts";
import { checkSettings, formatFlow, type SettingRule } from "./setting-rule.ts";
import type { YamlView } from "./yaml-view.ts";

const UNSEEN = [{ exact: "authorization" }, { exact: "x-api-key" }, { prefix: INTERNAL_HEADER_PREFIX }];
const BLOCKS = ["metadata_options", "receiving_namespaces", "untyped"] as const;

const RULES: readonly SettingRule[] = [
  {
    check: "guardrail",
    path: ["forward_rules", "disallowed_headers", "patterns"],
    holds: (view) => {
      const patterns = view.items().map(({ value }) => formatFlow(value));
      return UNSEEN.every((pattern) => patterns.includes(formatFlow(pattern)));
    },
    why: "the guardrail would see API keys and the gateway's own headers.",
    write: () => `forward_rules: {disallowed_headers: {patterns: ${formatFlow(UNSEEN)}}}`,
  },
  {
    check: "guardrail",
    path: ["mutation_rules"],
    holds: (view) =>
      view.at("disallow_all").value === true || matches(view.at("disallow_expression", "regex").text),
    why: "the guardrail could replace the gateway's own headers.",
    write: () => `mutation_rules: {disallow_expression: {regex: "${INTERNAL_HEADER_PREFIX}.*"}}`,
  },
  {
    check: "guardrail",
    path: BLOCKS,
    holds: (view) => view.items().some(({ text }) => text === GUARDRAIL_NAMESPACE),
    why: "the gateway wouldn't know what the guardrail blocks: such requests would return 400 and stay in flight for a minute.",
    write: () => `metadata_options: {receiving_namespaces: {untyped: [${GUARDRAIL_NAMESPACE}]}}`,
  },
];

/** Checks the filters of a connection manager; an endpoint picker comes after the gateway's ext_proc. */
export function checkGuardrails(filters: YamlView): BootstrapFinding[] {
  const all = filters.items();
  const placeOf = (type: string): number => {
    const own = findFilter(filters, type);
    return all.findIndex(({ path }) => path === own?.path);
  };
  const admission = placeOf(FILTERS.admission);
  const early = all.slice(0, Math.max(0, placeOf(FILTERS.processing)));
  return early.flatMap((filter, place) => {
    if (filter.typeName !== FILTERS.processing) return [];
    const settings = filter.at("typed_config");
    return [
      ...findUnless(place > admission, filter, {
        check: "filter_order",
        message: `${filter.at("name").text} comes before ext_authz: it would read bodies before their key is checked.`,
        fix: "Put it between ext_authz and the gateway's ext_proc.",
      }),
      ...checkSettings(settings, settings, RULES),
    ];
  });
}

/** Returns whether an expression covers the admission header; Envoy matches the whole name. */
function matches(expression: string): boolean {
  try {
    return new RegExp(`^(?:${expression})$`).test(ADMISSION_HEADER);
  } catch {
    return false;
  }
}
