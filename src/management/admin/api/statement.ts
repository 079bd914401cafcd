/** `GET …/statement`: a month's spend for bookkeeping, with its corrections and their reasons. */
import { formatRounded } from "../../../shared/money/money.ts";
import { type CalendarPeriod, dayAt, monthAt, parseMonth } from "../../../shared/time/calendar.ts";
import { addDays } from "../../../shared/time/day-range.ts";
import type { OrganizationRecord } from "../../../data-path/store/types/management.ts";
import { formatOwnerIds } from "../../../data-path/store/types/owner-ids.ts";
import type { Store } from "../../../data-path/store/types.ts";
import { statement, statementQuery } from "../schemas/statement.ts";
import { parseGroups } from "../schemas/usage.ts";
import { readUsageNames } from "./names.ts";
import { defineOrganizationRoute } from "./route.ts";
import { callerOf } from "./usage.ts";
import { readDays, type RowSource } from "./usage-rows.ts";
import { readTotals, type Total } from "./usage-totals.ts";

const LARGEST_KEYS = 50;
const AUDIT_PAGE = 500;
/** Entries of the audit log that are searched for corrections. */
const MAX_AUDIT_PAGES = 40;
const CORRECTED = "spend.corrected";
const NOT_KEPT = "Corrections whose reasons are no longer stored";

const show = defineOrganizationRoute({
  method: "GET",
  path: "/api/organizations/{organization}/statement",
  operationId: "getStatement",
  summary:
    "Show the statement of a month: spend by model, group and API key, and corrections with their reasons.",
  query: statementQuery,
  answers: { 200: statement },
  handleInOrganization: async ({ organization, query, principal }, { store, reports }) => {
    const nowMs = await store.timeMs();
    const month = parseMonth(query.month ?? "") ?? monthAt(nowMs);
    const caller = callerOf(organization.id, principal);
    const body = await reports.run(caller, () => readStatement(store, organization, month, nowMs));
    return { status: 200, body };
  },
});

async function readStatement(
  store: Store,
  organization: OrganizationRecord,
  month: CalendarPeriod,
  nowMs: number,
) {
  const { id, name, currency } = organization;
  const show = (microcents: bigint) => ({
    amount: formatRounded(microcents),
    amount_microcents: microcents,
  });
  const range = { from: dayAt(month.startMs).name, to: addDays(dayAt(month.endMs).name, -1) };
  const all = readDays(store, id, range, {});
  const byModel = await listLines(store, id, all, "model");
  // Corrections name no model.
  const models = byModel.filter((line) => line.id !== null);
  const correctedMicrocents = byModel.find((line) => line.id === null)?.microcents ?? 0n;
  const ofRequests = withoutCorrections(all);
  const groups = await listLines(store, id, ofRequests, "group");
  const keys = await listLines(store, id, ofRequests, "key", LARGEST_KEYS);
  const used = sumOf(models.map(({ microcents }) => microcents));
  const corrections = await listCorrections(store, id, month, correctedMicrocents);
  const format = ({ microcents, ...line }: Line) => ({ ...line, ...show(microcents) });
  return {
    organization_id: id,
    organization_name: name,
    month: month.name,
    currency,
    is_complete: nowMs >= month.endMs,
    created_at: new Date(nowMs).toISOString(),
    models: models.map(format),
    groups: groups.map(format),
    keys: keys.map(format),
    corrections: corrections.map(({ microcents, ...line }) => ({ ...line, ...show(microcents) })),
    usage_amount: show(used).amount,
    corrections_amount: show(correctedMicrocents).amount,
    total_amount: show(used + correctedMicrocents).amount,
    total_microcents: used + correctedMicrocents,
  };
}

function withoutCorrections(source: RowSource): RowSource {
  return {
    async *read() {
      for await (const rows of source.read()) yield rows.filter(({ model }) => model !== null);
    },
    completeFrom: source.completeFrom,
  };
}

interface Line {
  readonly id: string | null;
  readonly name: string | null;
  readonly others?: number;
  readonly requests: number;
  readonly microcents: bigint;
}

/** Lists the spend of each model, group or key, the largest first. */
async function listLines(
  store: Store,
  organizationId: string,
  source: RowSource,
  by: "model" | "group" | "key",
  top?: number,
): Promise<readonly Line[]> {
  const { totals } = await readTotals(source, parseGroups(by), { top });
  const parts = totals.map(({ values: [id = null] }) => ({
    keyId: by === "key" ? id : null,
    owners: formatOwnerIds({ userId: null, groupId: by === "group" ? id : null }),
  }));
  const namesOf = await readUsageNames(store, organizationId, parts);
  const lines = totals.map((total: Total, index): Line => {
    const { values, figures, others } = total;
    const names = namesOf(parts[index] ?? { keyId: null, owners: "" });
    const id = values[0] ?? null;
    return {
      id,
      name: by === "model" ? id : by === "key" ? names.keyName : names.groupName,
      ...(others === null ? {} : { others }),
      requests: figures.requests,
      microcents: figures.costMicrocents,
    };
  });
  return lines.toSorted(
    (one, other) =>
      Number(one.others !== undefined) - Number(other.others !== undefined) ||
      Number(other.microcents - one.microcents),
  );
}

interface Correction {
  readonly id: string | null;
  readonly created_at: string | null;
  readonly reason: string;
  readonly name: string | null;
  readonly microcents: bigint;
}

/** Lists a month's corrections by the audit log, and what it no longer has as one line. */
async function listCorrections(
  store: Pick<Store, "listAuditEntries">,
  organizationId: string,
  month: CalendarPeriod,
  correctedMicrocents: bigint,
): Promise<readonly Correction[]> {
  const found: Correction[] = [];
  let after: string | null = null;
  for (let page = 0; page < MAX_AUDIT_PAGES; page += 1) {
    const { items, next } = await store.listAuditEntries(organizationId, { limit: AUDIT_PAGE, after });
    for (const { id, action, target, after: values, recordedAtMs } of items) {
      if (action !== CORRECTED || values?.["month"] !== month.name) continue;
      found.push({
        id,
        created_at: new Date(recordedAtMs).toISOString(),
        reason: values["reason"] as string,
        name: target.name,
        microcents: BigInt(Number(values["amount_microcents"])),
      });
    }
    after = next;
    const isBefore = (items.at(-1)?.recordedAtMs ?? 0) < month.startMs;
    if (next === null || isBefore) break;
  }
  const rest = correctedMicrocents - sumOf(found.map(({ microcents }) => microcents));
  const notKept = { id: null, created_at: null, reason: NOT_KEPT, name: null, microcents: rest };
  return [...(rest === 0n ? [] : [notKept]), ...found.toReversed()];
}

function sumOf(amounts: readonly bigint[]): bigint {
  return amounts.reduce((sum, amount) => sum + amount, 0n);
}

export const statementRoutes = [show];
