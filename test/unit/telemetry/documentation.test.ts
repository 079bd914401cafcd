import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { describe, expect, it } from "vitest";
import { METRICS, type MetricDefinition } from "../../../src/shared/telemetry/metric-definitions.ts";
import { renderMetricsTable } from "./metrics-table.ts";

const root = new URL("../../../", import.meta.url);
const read = (name: string): string => readFileSync(new URL(name, root), "utf8");
const RULES = "deploy/prometheus/inference-gateway.rules.yml";

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: Readonly<Record<string, string>>;
}
const rules = (parse(read(RULES)) as { groups: { rules: Rule[] }[] }).groups.flatMap((group) => group.rules);

const definitions: readonly MetricDefinition[] = Object.values(METRICS);
/** Every name that a page has, with the parts of histograms. */
const exported = new Map(
  definitions.flatMap(({ name, type, labels }) => {
    const parts = type === "histogram" ? ["_bucket", "_sum", "_count"] : [""];
    return parts.map((part): [string, readonly string[]] => [
      name + part,
      part === "_bucket" ? [...labels, "le"] : labels,
    ]);
  }),
);
/** Put on by Prometheus's scrape. */
const SCRAPE_LABELS = ["instance", "job"];

function listUses(expression: string): { name: string; labels: string[] }[] {
  return Array.from(
    expression.matchAll(/\b((?:inference_gateway|gen_ai_server|gen_ai_client)_\w+)(?:\{([^}]*)\})?/g),
    ([, name = "", selector = ""]) => ({
      name,
      labels: Array.from(selector.matchAll(/(\w+)\s*(?:=|!=|=~|!~)"/g), ([, label = ""]) => label),
    }),
  ).filter(({ name }) => name !== "gen_ai_request_model");
}

function findUnknown(expressions: readonly string[]): string[] {
  return expressions.flatMap((expression) =>
    listUses(expression).flatMap(({ name, labels }) => {
      const known = exported.get(name);
      if (known === undefined) return [name];
      return labels
        .filter((label) => ![...known, ...SCRAPE_LABELS].includes(label))
        .map((label) => `${name}{${label}}`);
    }),
  );
}

describe("docs/observability.md", () => {
  it("has the table of all metrics (vitest -u renews it)", async () => {
    const page = new URL("docs/observability.md", root);
    const renewed = readFileSync(page, "utf8").replace(
      /(<!-- metrics: begin -->\n).*(<!-- metrics: end -->)/s,
      (_, begin: string, end: string) => `${begin}${renderMetricsTable()}\n${end}`,
    );
    await expect(renewed).toMatchFileSnapshot(page.pathname);
  });
});

const UNITS: readonly (readonly [name: RegExp, help: RegExp])[] = [
  [/_seconds(?:_total)?$/, /\bseconds\b/i],
  [/_bytes$/, /\bbytes\b/i],
  [/_microcents_total$/, /\bmicrocents\b/],
  [/_tokens_total$|_seen_tokens$|_token_usage$/, /\btokens\b/i],
];

describe("the metrics' help texts", () => {
  it.each(definitions)("$name: a noun phrase with its unit", ({ name, help }) => {
    expect(help).toMatch(/^(?:[A-Z1]).*\.$/);
    expect(help).not.toMatch(/^(?:The|From|How|That|What|Whether|In) /);
    const missing = UNITS.filter(([unit, words]) => unit.test(name) && !words.test(help));
    expect(missing).toEqual([]);
  });
});

describe("the metrics' names", () => {
  it("follow Prometheus: counters end with _total, and nothing else does; units are base units", () => {
    const wrong = definitions.filter(({ name, type }) => name.endsWith("_total") !== (type === "counter"));
    expect(wrong).toEqual([]);
    expect(definitions.filter(({ name }) => /_(?:ms|milliseconds|kb|mb)(?:_|$)/.test(name))).toEqual([]);
  });
});

const RUNBOOK = read("docs/runbook.md");

describe("deploy/prometheus/inference-gateway.rules.yml", () => {
  it("names no metric and no label that the gateway does not export", () => {
    expect(findUnknown(rules.map(({ expr }) => expr))).toEqual([]);
  });

  it.each(rules.map((rule) => ({ name: rule.alert, rule })))(
    "$name says what, how much, and has a place in the runbook",
    ({ rule }) => {
      const { summary, description, runbook_url: runbook } = rule.annotations;
      expect([summary, description].every((text) => (text ?? "").length > 10)).toBe(true);
      const [page, anchor] = String(runbook).split("#");
      expect(page).toBe("docs/runbook.md");
      const headings = Array.from(RUNBOOK.matchAll(/^#+ (.+)$/gm), ([, text = ""]) =>
        text.toLowerCase().replaceAll(" ", "-"),
      );
      expect(headings).toContain(anchor);
      const [, section = ""] =
        new RegExp(`^### ${rule.alert}\n([^]*?)(?=^##|(?![^]))`, "m").exec(RUNBOOK) ?? [];
      const parts = Array.from(section.matchAll(/^- \*\*(\w+):\*\* /gm), ([, part]) => part);
      expect(parts).toEqual(["Impact", "Check", "Fix", "Afterwards"]);
    },
  );
});

describe("deploy/grafana/inference-gateway.json", () => {
  const dashboard = JSON.parse(read("deploy/grafana/inference-gateway.json")) as {
    panels: {
      type: string;
      title: string;
      targets?: { expr: string; legendFormat: string }[];
      fieldConfig?: { defaults: { unit?: string; thresholds?: object } };
    }[];
  };
  const panels = dashboard.panels.filter(({ type }) => type !== "row");
  const targets = panels.flatMap((panel) => panel.targets ?? []);
  const expressions = targets.map(({ expr }) => expr);

  it("begins with four figures, has a unit for each panel, and names no series by an id", () => {
    expect(dashboard.panels.slice(0, 5).map(({ title }) => title)).toEqual([
      "Now",
      "Success",
      "Spend today",
      "Duration, p95",
      "Open alerts",
    ]);
    expect(panels.filter(({ fieldConfig }) => fieldConfig?.defaults.unit === undefined)).toEqual([]);
    expect(targets.filter(({ legendFormat }) => /_id\b/.test(legendFormat))).toEqual([]);
  });

  it("names no metric and no label that the gateway does not export", () => {
    expect(findUnknown(expressions)).toEqual([]);
  });

  it("shows every metric but those of the build and of token sizes, in some panel", () => {
    const shown = new Set(
      expressions.flatMap(listUses).map(({ name }) => name.replace(/_(?:bucket|sum|count)$/, "")),
    );
    const missing = definitions.map(({ name }) => name).filter((name) => !shown.has(name));
    expect(missing.sort()).toEqual([
      "gen_ai_client_token_usage",
      "gen_ai_server_time_per_output_token_seconds",
      "inference_gateway_build_info",
    ]);
  });
});
