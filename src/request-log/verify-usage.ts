/**
 * Holds three accounts of a month against each other: spend (what caps see), usage rows (what people see) and the log of
 * requests (what was counted, request by request). Says every difference and puts none right; `rebuildUsage` does, in
 * one direction only.
 */
import type { Store } from "../store/types.ts";
import type { UsageRow } from "../store/types/reporting.ts";
import type { LoggedRow, LoggedUsage } from "./read-usage.ts";

export interface UsageDifference {
  readonly organizationId: string;
  /** "spend_of_organization", "spend_of_key": against the usage rows. The others: against the log of requests. */
  readonly kind: "spend_of_organization" | "spend_of_key" | "missing_in_redis" | "missing_in_log";
  readonly keyId: string | null;
  readonly day: string | null;
  readonly model: string | null;
  readonly expectedMicrocents: bigint;
  readonly foundMicrocents: bigint;
}

export interface UsageVerification {
  readonly month: string;
  readonly organizations: number;
  readonly rows: number;
  readonly spentMicrocents: bigint;
  readonly differences: readonly UsageDifference[];
}

type VerifyStore = Pick<Store, "listOrganizationIds" | "readSpend" | "readUsage">;

/** @param logged Null: spend against usage only. */
export async function verifyUsage(
  store: VerifyStore,
  month: string,
  logged: LoggedUsage | null,
): Promise<UsageVerification> {
  const known = await store.listOrganizationIds();
  const ids = new Set([...known, ...(logged?.rows.keys() ?? [])]);
  const differences: UsageDifference[] = [];
  let rowCount = 0;
  let spent = 0n;
  for (const organizationId of ids) {
    const spend = await store.readSpend(organizationId, month);
    const { rows } = await store.readUsage(organizationId, month);
    rowCount += rows.length;
    spent += spend.organizationMicrocents;
    const about = { organizationId, keyId: null, day: null, model: null };
    if (sum(rows) !== spend.organizationMicrocents) {
      const found = { expectedMicrocents: sum(rows), foundMicrocents: spend.organizationMicrocents };
      differences.push({ ...about, kind: "spend_of_organization", ...found });
    }
    differences.push(...compareKeys(organizationId, rows, spend.keyMicrocents));
    if (logged !== null) {
      differences.push(...compareRows(organizationId, rows, logged.rows.get(organizationId) ?? []));
    }
  }
  return { month, organizations: ids.size, rows: rowCount, spentMicrocents: spent, differences };
}

function compareKeys(
  organizationId: string,
  rows: readonly UsageRow[],
  spends: ReadonlyMap<string, bigint>,
): UsageDifference[] {
  const keyIds = new Set([...spends.keys(), ...rows.flatMap(({ keyId }) => (keyId === null ? [] : [keyId]))]);
  return [...keyIds].flatMap((keyId) => {
    const expectedMicrocents = sum(rows.filter((row) => row.keyId === keyId));
    const foundMicrocents = spends.get(keyId) ?? 0n;
    if (expectedMicrocents === foundMicrocents) return [];
    const about = { organizationId, keyId, day: null, model: null };
    return [{ ...about, kind: "spend_of_key" as const, expectedMicrocents, foundMicrocents }];
  });
}

/**
 * By day, key and model, whatever the tags: the log of a request whose hold Redis did not answer cannot say in which row
 * it counts. Corrections by hand, which have no model, are in no log of requests.
 */
function compareRows(
  organizationId: string,
  rows: readonly UsageRow[],
  logged: readonly LoggedRow[],
): UsageDifference[] {
  const inRedis = groupRows(rows.filter(({ model }) => model !== null));
  const inLog = groupRows(logged);
  return [...new Set([...inRedis.keys(), ...inLog.keys()])].sort().flatMap((name) => {
    const found = inRedis.get(name) ?? [];
    const expected = inLog.get(name) ?? [];
    const foundMicrocents = sum(found);
    const expectedMicrocents = sum(expected);
    const row = found[0] ?? expected[0];
    if (row === undefined || foundMicrocents === expectedMicrocents) return [];
    const { keyId, day, model } = row;
    const kind =
      foundMicrocents < expectedMicrocents ? ("missing_in_redis" as const) : ("missing_in_log" as const);
    return [{ organizationId, kind, keyId, day, model, expectedMicrocents, foundMicrocents }];
  });
}

function sum(rows: readonly UsageRow[]): bigint {
  return rows.reduce((total, { costMicrocents }) => total + costMicrocents, 0n);
}

/** By day, key and model. */
function groupRows<Row extends UsageRow>(rows: readonly Row[]): Map<string, Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const name = `${row.day} ${row.keyId} ${row.model}`;
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [row]);
    else group.push(row);
  }
  return groups;
}

export interface UsageRebuild {
  /** Rows that were raised. */
  readonly raisedRows: number;
  readonly addedMicrocents: bigint;
  /** Organizations with requests in flight: nothing of theirs was changed. */
  readonly inFlight: readonly string[];
}

/** Raises spend and usage to what the log of requests says. Lowers nothing; a repeat changes nothing. */
export async function rebuildUsage(
  store: Pick<Store, "raiseUsage" | "readUsage">,
  logged: LoggedUsage,
): Promise<UsageRebuild> {
  const inFlight = new Set<string>();
  let raisedRows = 0;
  let addedMicrocents = 0n;
  for (const [organizationId, rows] of logged.rows) {
    const known = groupRows((await store.readUsage(organizationId, logged.month)).rows);
    for (const [name, own] of groupRows(rows)) {
      const [first] = own;
      if (first === undefined) continue;
      const { day, keyId, model } = first;
      const tagsInRedis = (known.get(name) ?? []).map(({ tags }) => tags);
      const result = await store.raiseUsage(organizationId, { day, keyId, model, rows: own }, tagsInRedis);
      if (result.outcome === "in_flight") inFlight.add(organizationId);
      if (result.outcome === "raised") raisedRows += 1;
      addedMicrocents += result.addedMicrocents;
    }
  }
  return { raisedRows, addedMicrocents, inFlight: [...inFlight] };
}
