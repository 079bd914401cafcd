/** `GET /api/spend`: a month's spend of all organizations, for the operator. */
import type { z } from "zod";
import { formatDecimal, MICROCENTS_PER_CENT } from "../../../shared/money/money.ts";
import {
  type CalendarPeriod,
  DAY_MS,
  dayAt,
  formatTimeOrNull,
  monthAt,
  parseMonth,
} from "../../../shared/time/calendar.ts";
import { mapTogether } from "../../../shared/event-loop/map-together.ts";
import { addDays, daysIn } from "../../../shared/time/day-range.ts";
import { measureProgress } from "../../../shared/usage/forecast.ts";
import { centsOf, type Limit } from "../../../shared/settings/limits.ts";
import type { OrganizationRecord } from "../../../shared/stored/management.ts";
import type { RecentRequest } from "../../../shared/stored/reporting.ts";
import type { Store } from "../../../shared/stored/store.ts";
import { compareNames } from "../directory/arrange.ts";
import { allSpend, allSpendQuery, type SPEND_SORTS } from "../schemas/all-spend.ts";
import { formatHeader, formatRow, type UsageColumn } from "../usage-export/usage-table.ts";
import { isFailed } from "./health.ts";
import { defineRoute } from "./route.ts";

/** Organizations whose requests are counted: each reads a month of sums. */
const DETAILED = 500;
/** Deleted organizations that are looked at. */
const MAX_DELETED = 1_000;
/** Organizations read at once. */
const AT_ONCE = 8;
/** Requests of the last day that are looked at, of one organization and of all. */
const MOST_OF_ONE = 10_000;
const MOST_OF_ALL = 100_000;
const FORECAST_DAYS = 7;

export type SpendRow = z.output<typeof allSpend>["data"][number];

const list = defineRoute({
  method: "GET",
  path: "/api/spend",
  operationId: "listSpend",
  summary: "Show a month's spend of every organization, with requests, errors and forecast.",
  access: "operator",
  query: allSpendQuery,
  answers: { 200: allSpend },
  otherMediaType: "text/csv",
  handle: async ({ query }, { store, reports }) => {
    const nowMs = await store.timeMs();
    const month = parseMonth(query.month ?? "") ?? monthAt(nowMs);
    const data = await reports.run({ lane: "all organizations", caller: "operator" }, () =>
      readAllSpend(store, month, nowMs),
    );
    const sorted = data.toSorted(COMPARE[query.sort ?? "-spent"]);
    if (query.format !== "csv") {
      return { status: 200, body: { month: month.name, time: new Date(nowMs).toISOString(), data: sorted } };
    }
    return {
      status: 200,
      body:
        formatHeader(COLUMNS) +
        sorted.map((row) => formatRow(COLUMNS, { ...row, month: month.name })).join(""),
      headers: {
        "content-type": "text/csv; charset=utf-8",
        "content-disposition": `attachment; filename="spend-${month.name}.csv"`,
      },
    };
  },
});

async function readAllSpend(
  store: Store,
  month: CalendarPeriod,
  nowMs: number,
): Promise<readonly SpendRow[]> {
  const organizations = await listOrganizations(store);
  const spent = await mapTogether(organizations, AT_ONCE, async (organization) => ({
    organization,
    microcents: (await store.readSpend(organization.id, month.name, [])).organizationMicrocents,
  }));
  const shown = spent
    .filter(({ organization, microcents }) => organization.deletedAtMs === null || microcents !== 0n)
    .toSorted((one, other) => Number(other.microcents - one.microcents));
  let remaining = MOST_OF_ALL;
  return mapTogether(shown, AT_ONCE, async ({ organization, microcents }, place) => {
    const sums =
      place < DETAILED ? await readSums(store, organization, microcents, month, nowMs) : NO_DETAILS;
    const isCounted = place < DETAILED && isCurrent(month, nowMs) && remaining > 0;
    const maxExamined = isCounted ? Math.min(MOST_OF_ONE, remaining) : 0;
    // Reserved: others are read at the same time.
    remaining -= maxExamined;
    const errors = isCounted ? await countErrors(store, organization, maxExamined, nowMs) : NO_ERRORS;
    remaining += maxExamined - errors.examined;
    const { id, name, currency, limits, deletedAtMs } = organization;
    return {
      organization_id: id,
      organization_name: name,
      deleted_at: formatTimeOrNull(deletedAtMs),
      currency,
      spent_microcents: microcents,
      limits,
      ...sums,
      recent_requests: errors.judged,
      recent_errors: errors.failed,
    };
  });
}

async function listOrganizations(store: Store): Promise<readonly OrganizationRecord[]> {
  const ids = await store.listOrganizationIds();
  const found = await mapTogether(ids, AT_ONCE, (id) => store.getOrganization(id));
  const deleted = await store.listDeletedOrganizations({ limit: MAX_DELETED, after: null });
  return [...found.filter((one) => one !== null && one.deletedAtMs === null), ...deleted.items].filter(
    (one) => one !== null,
  );
}

const NO_DETAILS = { forecast_microcents: null, requests: null };
const NO_ERRORS = { examined: 0, judged: null, failed: null };

function isCurrent({ startMs, endMs }: CalendarPeriod, nowMs: number): boolean {
  return startMs <= nowMs && nowMs < endMs;
}

async function readSums(
  store: Store,
  { id }: OrganizationRecord,
  spentMicrocents: bigint,
  month: CalendarPeriod,
  nowMs: number,
) {
  const isOpen = isCurrent(month, nowMs);
  const first = dayAt(month.startMs).name;
  const last = isOpen ? dayAt(nowMs).name : addDays(dayAt(month.endMs).name, -1);
  const weekAgo = addDays(last, -FORECAST_DAYS);
  const costs = new Map<string, number>();
  let requests = 0;
  // A month without spend has no rows to read.
  const from = isOpen && weekAgo < first ? weekAgo : first;
  for (const day of spentMicrocents === 0n ? [] : daysIn({ from, to: last })) {
    for (const row of await store.readSumsOfDay(id, day)) {
      costs.set(day, (costs.get(day) ?? 0) + Number(row.costMicrocents));
      if (day >= first) requests += row.requests;
    }
  }
  if (!isOpen) return { ...NO_DETAILS, requests };
  const { forecastMicrocents } = measureProgress(month.name, Number(spentMicrocents), costs, nowMs);
  return { forecast_microcents: forecastMicrocents === null ? null : BigInt(forecastMicrocents), requests };
}

/** Counts the requests of the last day whose outcome is known, and those that failed. */
async function countErrors(store: Store, { id }: OrganizationRecord, maxExamined: number, nowMs: number) {
  const counts = { examined: 0, judged: 0, failed: 0 };
  const matches = (request: RecentRequest): boolean => {
    const failed = isFailed(request);
    counts.examined += 1;
    if (failed !== null) counts.judged += 1;
    if (failed === true) counts.failed += 1;
    // Lists nothing, so that the scan continues.
    return false;
  };
  const filter = { fromMs: nowMs - DAY_MS, matches, maxExamined };
  await store.listRequests(id, { limit: 1, after: null }, filter);
  return counts;
}

type Compare = (one: SpendRow, other: SpendRow) => number;

const byName: Compare = (one, other) => compareNames(one.organization_name, other.organization_name);

function byLargest(amountOf: (row: SpendRow) => number | bigint | null): Compare {
  const sizeOf = (row: SpendRow): number => Number(amountOf(row) ?? -1);
  return (one, other) => sizeOf(other) - sizeOf(one) || byName(one, other);
}

const COMPARE: Readonly<Record<(typeof SPEND_SORTS)[number], Compare>> = {
  name: byName,
  "-spent": byLargest(({ spent_microcents: spent }) => spent),
  "-forecast": byLargest(({ forecast_microcents: forecast }) => forecast),
  "-requests": byLargest(({ requests }) => requests),
  "-errors": byLargest(({ recent_errors: errors }) => errors),
};

const decimalOf = (microcents: bigint | null): string | null =>
  microcents === null ? null : formatDecimal(microcents);

/** Returns a monthly limit in microcents; null: none. */
export function monthlyOf(limits: readonly Limit[], kind: Limit["kind"]): bigint | null {
  const cents = centsOf(limits, { period: "month", kind });
  return cents === null ? null : BigInt(cents) * BigInt(MICROCENTS_PER_CENT);
}

/** Columns are read by position: never move one; append new ones. */
const COLUMNS: readonly UsageColumn<SpendRow & { readonly month: string }>[] = [
  ["month", ({ month }) => month],
  ["organization_id", ({ organization_id: id }) => id],
  ["organization_name", ({ organization_name: name }) => name],
  ["spent", ({ spent_microcents: spent }) => decimalOf(spent)],
  ["forecast", ({ forecast_microcents: forecast }) => decimalOf(forecast)],
  ["currency", ({ currency }) => currency],
  ["monthly_cap", ({ limits }) => decimalOf(monthlyOf(limits, "cap"))],
  ["monthly_budget", ({ limits }) => decimalOf(monthlyOf(limits, "budget"))],
  ["requests", ({ requests }) => requests],
  ["recent_requests", (row) => row.recent_requests],
  ["recent_errors", (row) => row.recent_errors],
  ["deleted_at", (row) => row.deleted_at],
];

export const allSpendRoutes = [list];
