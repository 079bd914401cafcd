/** `GET …/statement`: a month's spend for bookkeeping, with its corrections and their reasons. */
import { formatRounded } from "../../../shared/money/money.ts";
import { type CalendarPeriod, dayAt, monthAt, parseMonth } from "../../../shared/time/calendar.ts";
import { addDays } from "../../../shared/time/day-range.ts";
import type { OrganizationRecord } from "../../../shared/stored/management.ts";
import { formatOwnerIds, parseOwnerIds } from "../../../shared/stored/owner-ids.ts";
import type { Store } from "../../../shared/stored/store.ts";
import { statement, statementQuery } from "../schemas/statement.ts";
import { readUsageNames } from "./names.ts";
import { defineOrganizationRoute } from "./route.ts";
import { callerOf } from "./usage.ts";
import { readDays, type ReportRow, type RowSource } from "./usage-rows.ts";
import { MAX_RANKED, refuseMore } from "./usage-totals.ts";

const LARGEST_KEYS = 50;
const AUDIT_PAGE = 500;
/** Entries of the audit log that are searched for corrections. */
const MAX_AUDIT_PAGES = 40;
const CORRECTED = "spend.corrected";
const NOT_STORED = "Corrections whose reasons are no longer stored";

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
  const sums = await sumUp(readDays(store, id, range, {}));
  // Corrections name no model.
  const correctedMicrocents = sums.model.get(null)?.microcents ?? 0n;
  sums.model.delete(null);
  const models = listLines(sums.model);
  const groups = listLines(sums.group);
  const keys = listLines(sums.key, LARGEST_KEYS);
  const nameModel = ({ id: model }: Line) => model;
  const [nameGroup, nameKey] = await readNames(store, id, groups, keys);
  const used = sumOf(models.map(({ microcents }) => microcents));
  const corrections = await listCorrections(store, id, month, correctedMicrocents);
  const formatBy = (nameOf: (line: Line) => string | null) => (line: Line) => {
    const { microcents, ...shown } = line;
    return { ...shown, name: nameOf(line), ...show(microcents) };
  };
  return {
    organization_id: id,
    organization_name: name,
    month: month.name,
    currency,
    is_complete: nowMs >= month.endMs,
    created_at: new Date(nowMs).toISOString(),
    models: models.map(formatBy(nameModel)),
    groups: groups.map(formatBy(nameGroup)),
    keys: keys.map(formatBy(nameKey)),
    corrections: corrections.map(({ microcents, ...line }) => ({ ...line, ...show(microcents) })),
    usage_amount: show(used).amount,
    corrections_amount: show(correctedMicrocents).amount,
    total_amount: show(used + correctedMicrocents).amount,
    total_microcents: used + correctedMicrocents,
  };
}

interface Sum {
  requests: number;
  microcents: bigint;
}

type SumsById = Map<string | null, Sum>;

/** Sums up one reading by model, and without corrections by group and by key. @throws AdminError 400 for too many */
async function sumUp(source: RowSource) {
  const sums = { model: new Map() as SumsById, group: new Map() as SumsById, key: new Map() as SumsById };
  const add = (to: SumsById, id: string | null, { requests, costMicrocents }: ReportRow): void => {
    const sum = to.get(id) ?? { requests: 0, microcents: 0n };
    to.set(id, sum);
    sum.requests += requests;
    sum.microcents += costMicrocents;
  };
  for await (const rows of source.read()) {
    for (const row of rows) {
      add(sums.model, row.model, row);
      if (row.model === null) continue;
      add(sums.group, parseOwnerIds(row.owners).groupId, row);
      add(sums.key, row.keyId, row);
    }
    refuseMore(Math.max(sums.model.size, sums.group.size, sums.key.size), MAX_RANKED);
  }
  return sums;
}

interface Line extends Readonly<Sum> {
  readonly id: string | null;
  /** Number of further keys that the line sums up. */
  readonly others?: number;
}

/** Lists the sums, the largest first, and with `top` all further ones as one line. */
function listLines(sums: SumsById, top = sums.size): readonly Line[] {
  const lines = [...sums]
    .map(([id, sum]): Line => ({ id, ...sum }))
    .sort(
      (one, other) =>
        Number(other.microcents - one.microcents) || ((one.id ?? "") < (other.id ?? "") ? -1 : 1),
    );
  const rest = lines.slice(top);
  if (rest.length === 0) return lines;
  const requests = rest.reduce((sum, line) => sum + line.requests, 0);
  const microcents = sumOf(rest.map((line) => line.microcents));
  return [...lines.slice(0, top), { id: null, others: rest.length, requests, microcents }];
}

/** Reads the names of groups and keys, including deleted ones. */
async function readNames(
  store: Store,
  organizationId: string,
  groups: readonly Line[],
  keys: readonly Line[],
) {
  const ofGroup = ({ id }: Line) => ({ keyId: null, owners: formatOwnerIds({ userId: null, groupId: id }) });
  const ofKey = ({ id }: Line) => ({ keyId: id, owners: "" });
  const namesOf = await readUsageNames(store, organizationId, [...groups.map(ofGroup), ...keys.map(ofKey)]);
  return [
    (line: Line) => namesOf(ofGroup(line)).groupName,
    (line: Line) => namesOf(ofKey(line)).keyName,
  ] as const;
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
  const notStored = { id: null, created_at: null, reason: NOT_STORED, name: null, microcents: rest };
  return [...(rest === 0n ? [] : [notStored]), ...found.toReversed()];
}

function sumOf(amounts: readonly bigint[]): bigint {
  return amounts.reduce((sum, amount) => sum + amount, 0n);
}

export const statementRoutes = [show];
