/** `GET …/usage`: what a month's requests used and cost, as JSON or CSV. */
import { wholeCents } from "../../money.ts";
import { NO_USAGE, type UsageRow } from "../../store/types/reporting.ts";
import { USAGE_GROUPS, type UsageGroup, usage, usageQuery } from "../schemas/usage.ts";
import { defineOrganizationRoute } from "./route.ts";

const GROUP_FIELDS = { day: "day", key: "keyId", model: "model" } as const;
const GROUP_COLUMNS = { day: "day", key: "key_id", model: "model" } as const;
const COUNTS = [
  "requests",
  "inputTokens",
  "cachedInputTokens",
  "outputTokens",
  "reasoningTokens",
  "estimatedRequests",
] as const;

type Groups = { -readonly [Group in UsageGroup]?: string | null };

interface Total {
  readonly groups: Groups;
  readonly counts: Record<(typeof COUNTS)[number], number>;
  costMicrocents: bigint;
}

const show = defineOrganizationRoute(
  {
    method: "GET",
    path: "/api/organizations/{organization}/usage",
    operationId: "getUsage",
    tag: "Usage",
    summary: "Requests, tokens and cost of a month, one row per group. Deleted keys are in it.",
    access: "read",
    query: usageQuery,
    body: null,
    answers: { 200: usage },
    otherMediaType: "text/csv",
  },
  async ({ organization, query }, { store }) => {
    const { month, rows } = await store.readUsage(organization.id, query.month ?? null);
    const wanted = new Set(query.group_by?.split(","));
    const groups = USAGE_GROUPS.filter((group) => wanted.has(group));
    const data = sumUsage(rows, groups).map(formatRow);
    if (query.format !== "csv") {
      return { status: 200, body: { month, currency: organization.currency, data } };
    }
    return {
      status: 200,
      body: formatCsv(data, groups, organization.currency),
      headers: {
        "content-type": "text/csv; charset=utf-8",
        "content-disposition": `attachment; filename="usage-${organization.id}-${month}.csv"`,
      },
    };
  },
);

/** One total per group, in the order of the groups' values; without groups one total, also of nothing. */
function sumUsage(rows: readonly UsageRow[], groups: readonly UsageGroup[]): Total[] {
  const totals = new Map<string, Total>();
  if (groups.length === 0) totals.set("[]", createTotal({}));
  for (const row of rows) {
    const values = groups.map((group) => row[GROUP_FIELDS[group]]);
    const name = JSON.stringify(values);
    const total =
      totals.get(name) ??
      createTotal(Object.fromEntries(groups.map((group, position) => [group, values[position] ?? null])));
    totals.set(name, total);
    for (const count of COUNTS) total.counts[count] += row[count];
    total.costMicrocents += row.costMicrocents;
  }
  return [...totals.entries()].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, total]) => total);
}

function createTotal(groups: Groups): Total {
  const { costMicrocents, ...counts } = NO_USAGE;
  return { groups, counts, costMicrocents };
}

function formatRow({ groups, counts, costMicrocents }: Total): Record<string, string | number | null> {
  const columns = Object.entries(groups).map(([group, value]) => [GROUP_COLUMNS[group as UsageGroup], value]);
  return {
    ...Object.fromEntries(columns),
    requests: counts.requests,
    input_tokens: counts.inputTokens,
    cached_input_tokens: counts.cachedInputTokens,
    output_tokens: counts.outputTokens,
    reasoning_tokens: counts.reasoningTokens,
    estimated_requests: counts.estimatedRequests,
    cost_microcents: Number(costMicrocents),
    cost_cents: wholeCents(costMicrocents),
  };
}

/** RFC 4180. The header line is there without rows too. */
function formatCsv(
  rows: readonly Record<string, string | number | null>[],
  groups: readonly UsageGroup[],
  currency: string,
): string {
  const empty = formatRow(createTotal(Object.fromEntries(groups.map((group) => [group, null]))));
  const names = Object.keys(empty);
  const lines = [
    [...names, "currency"],
    ...rows.map((row) => [...names.map((name) => formatCell(row[name] ?? "")), currency]),
  ];
  return lines.map((cells) => `${cells.join(",")}\r\n`).join("");
}

function formatCell(value: string | number): string {
  const text = String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export const usageRoutes = [show];
