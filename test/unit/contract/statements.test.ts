/** Statements that were false or stale once. Each row fails on the old text and holds what is true now. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { ConfigError } from "../../../src/shared/config/config-error.ts";
import { parseConfig } from "../../../src/shared/config/load.ts";

/** A file of this repository, on one line. */
const read = (path: string) =>
  readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8").replaceAll(/\s+/g, " ");

/** The text between two others of a page. */
function section(path: string, from: string, to: string): string {
  const text = read(path);
  const start = text.indexOf(from);
  expect(start, `${path} has "${from}"`).toBeGreaterThanOrEqual(0);
  return text.slice(start, text.indexOf(to, start + from.length));
}

function checkLiteLlm(settings: string): string {
  try {
    parseConfig(`model_list: []\n${settings}\n`, { baseDir: "/" });
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map(({ message }) => message).join("\n");
    throw error;
  }
  throw new Error("a LiteLLM configuration is rejected");
}

interface Statement {
  readonly where: string;
  readonly text: () => string;
  readonly says?: readonly (string | RegExp)[];
  readonly never?: readonly (string | RegExp)[];
}

const STATEMENTS: readonly Statement[] = [
  {
    where: "config check on LiteLLM's tokens per minute",
    text: () => checkLiteLlm("litellm_settings: {tpm_limit: 1000}"),
    says: ["tokens per minute are a limit of an API key, user, group or organization", "`--tpm`"],
    never: ["yet", "cannot be limited"],
  },
  {
    where: "config check on LiteLLM's budgets",
    text: () => checkLiteLlm("litellm_settings: {max_budget: 10}"),
    says: ["users, groups and organizations have hard caps", "by day, week, month and in total"],
    never: ["yet", "a key and an organization have a monthly"],
  },
  {
    where: "config check on LiteLLM's teams",
    text: () => checkLiteLlm("litellm_settings: {default_team_settings: [{team_id: a}]}"),
    says: ["a team is a group of users and API keys"],
    never: ["there are no teams"],
  },
  {
    where: "config check on LiteLLM's fallbacks",
    text: () => checkLiteLlm("router_settings: {fallbacks: [{a: [b]}]}"),
    says: ["never falls back to another model"],
  },
  {
    where: "the guide for LiteLLM users",
    text: () => read("docs/migrate-litellm.md"),
    says: ["`tokens_per_minute`", "by day, week, month and in total", "| teams | [groups]"],
    never: ["not there yet"],
  },
  {
    where: "a total cap keeps the monthly limits",
    text: () => section("docs/limits.md", "## Set a limit", "## Give a team"),
    says: [
      "limit set --org Acme --period total",
      '"period": "month", "kind": "cap"',
      "replaces the whole list",
    ],
    never: ["org set Acme --limits"],
  },
  {
    where: "the overview without a cap of any period",
    text: () => read("src/management/admin/dashboard/pages/overview.tsx"),
    says: [/organization\.limits\.some\(\(\{ kind \}\) => kind === "cap"\) \? null/],
    never: [/monthCapCents === null \? \(/],
  },
  {
    where: "a bar without monthly limits",
    text: () => read("src/management/admin/dashboard/parts/charts.tsx"),
    says: ["no monthly cap or budget"],
    never: ["no cap, no budget"],
  },
  {
    where: "the Alerts page",
    text: () => read("src/management/admin/dashboard/pages/alerts.tsx"),
    says: ["pages of API keys, users and groups", "(day, week, month, total)"],
    never: ["once a month"],
  },
  {
    where: "the fields of a 402",
    text: () => section("docs/errors.md", "## 402", "`spent_cents`"),
    says: ["`organization` or `session`", "`total` or `session`", "null for `total` and `session`"],
  },
  {
    where: "the order of the checks",
    text: () => section("docs/request-limits.md", "## Order of the checks", "If a request waits"),
    says: ["caps of the key, its user, its group and the organization | 402", "the session's cap | 402"],
  },
  {
    where: "the periods of caps",
    text: () => section("docs/costs-and-caps.md", "## Choose a budget", "## What does a request cost?"),
    says: ["by day, week, month or in total"],
    never: ["A monthly hard cap for a key, for its organization, or both"],
  },
  {
    where: "how often a request waits for Redis, by doctor",
    text: () => read("src/operation/doctor/finding.ts"),
    says: ["waits for Redis once, with strict caps three times"],
    never: ["two to three times"],
  },
  {
    where: "how often a request waits for Redis, by the runbook",
    text: () => section("docs/runbook.md", "### GatewayRedisSlow", "### GatewaySpoolPending"),
    says: ["waits for Redis once", "with strict caps or a limit of concurrent requests it waits three times"],
  },
  {
    where: "endpoints that no health check watches, by doctor",
    text: () => read("src/operation/doctor/check-upstream-state.ts"),
    says: ["it tests none"],
    never: ["for healthy"],
  },
  {
    where: "an organization that the command line doesn't find",
    text: () =>
      section(
        "src/operation/cli/management/find.ts",
        "export async function findOrganization",
        "export const findKey",
      ),
    says: ['pickOne(all, wanted, "org", "`inference-gateway org list` shows all.")'],
    never: ["Give --org with an id or a name: `"],
  },
  {
    where: "the duration of the faults' long form",
    text: () => read("docs/reliability-results.md"),
    never: [/minutes in all/],
  },
  {
    where: "the runbook's address in alert rules",
    text: () => section("docs/kubernetes.md", "- **Metrics:**", "- **Memory:**"),
    says: ["`prometheusRule.enabled` installs the rules", "`gateway.documentationUrl`"],
    never: ["is relative"],
  },
  {
    where: "the Kubernetes image",
    text: () => section("docs/kubernetes.md", "## 1. Build and push the image", "helm install"),
    says: ["docker push", "image: {repository"],
  },
  {
    where: "the README's list of pages",
    text: () => read("README.md").replaceAll(/(docs\/identity\.md)[\s\S]*?\1/g, "twice"),
    never: ["twice"],
  },
  {
    where: "`limits` of `GET /v1/key`",
    text: () => section("docs/key-api.md", "## The key", "## A request"),
    says: ["Every limit of tokens per minute that the key's requests meet."],
    never: ["all that the key meets"],
  },
  {
    where: "a new key without a cap",
    text: () => read("src/management/admin/dashboard/pages/key-creation.tsx"),
    says: ["Anyone who has the key can use it within its limits."],
    never: ["can spend up to its cap"],
  },
];

describe("a statement that was false", () => {
  it.each(STATEMENTS)("$where", ({ text, says = [], never = [] }) => {
    const current = text();
    for (const part of says) expect(current).toMatch(part);
    for (const part of never) expect(current).not.toMatch(part);
  });
});

describe("commands of the docs", () => {
  it.each(["docs/limits.md", "docs/management-api.md"])("%s sets $ORGANIZATION before it uses it", (page) => {
    const text = readFileSync(new URL(`../../../${page}`, import.meta.url), "utf8");
    const set = text.search(/^ORGANIZATION=/m);
    expect(set).toBeGreaterThan(0);
    expect(set).toBeLessThan(text.indexOf("$ORGANIZATION"));
  });
});

it("envoy/README.md has the filters of envoy/envoy.yaml, in their order", () => {
  const config = readFileSync(new URL("../../../envoy/envoy.yaml", import.meta.url), "utf8");
  const [, filters = ""] = /\n {16}http_filters:\n([^]*?)\n {0,15}\w/.exec(config) ?? [];
  const rendered = Array.from(
    filters.matchAll(/^ {18}- name: (?:envoy\.filters\.http\.)?(\S+)$/gm),
    ([, name]) => name,
  );
  const listed = Array.from(
    section("envoy/README.md", "## Which filter", "## Safeguards").matchAll(/\| `([\w.]+)`/g),
    ([, name]) => name,
  );
  expect(listed.filter((name) => rendered.includes(name))).toEqual(rendered);
  expect(rendered.length).toBeGreaterThan(4);
});
