/**
 * Compares four accounts of a month: spend (read by caps), usage rows (shown to people), the stored sums of each
 * day, and the request log (counted per request). Reports every difference and corrects none; `rebuildUsage` does.
 */
import type { Store } from "../../shared/stored/store.ts";
import type { UsageRow } from "../../shared/stored/reporting.ts";
import { daysOf, parseMonth } from "../../shared/time/calendar.ts";
import { OTHER_TAGS } from "../../shared/usage/tags.ts";
import {
  FIGURE_NAMES,
  FIGURES,
  type UsageFigure as Figure,
  type UsageFigures,
} from "../../shared/usage/usage-figures.ts";
import type { LoggedRow, LoggedUsage } from "./read-usage.ts";

/** A figure on which two accounts of a month differ. */
export interface UsageDifference {
  readonly organizationId: string;
  /**
   * "spend_of_organization" and "spend_of_key" compare spend with usage rows, "sum_of_day" compares a day's stored
   * sums with its rows. All others compare usage rows with the request log. "in_other_tag_row": only the tags
   * differ; the totals of day, key and model are equal.
   */
  readonly kind:
    | "spend_of_organization"
    | "spend_of_key"
    | "sum_of_day"
    | "missing_in_redis"
    | "missing_in_log"
    | "in_other_tag_row";
  readonly keyId: string | null;
  readonly day: string | null;
  readonly model: string | null;
  /** Null: all tags together. */
  readonly tags: string | null;
  /** Name in the request log. */
  readonly figure: FigureName;
  readonly expected: bigint;
  readonly found: bigint;
}

type FigureName = (typeof FIGURE_NAMES)[Figure];

export interface UsageVerification {
  readonly month: string;
  readonly organizations: number;
  readonly rows: number;
  readonly spentMicrocents: bigint;
  readonly differences: readonly UsageDifference[];
}

/** Spend covers a month and all models and tags. */
const SPEND = { day: null, model: null, tags: null, figure: FIGURE_NAMES.costMicrocents };

type VerifyStore = Pick<Store, "listOrganizationIds" | "readSpend" | "readUsage" | "readStoredSums">;

/** @param logged Null: compare spend with usage only. */
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
    const expected = sumOf(rows, "costMicrocents");
    if (expected !== spend.organizationMicrocents) {
      const amounts = { expected, found: spend.organizationMicrocents };
      differences.push({ ...SPEND, organizationId, kind: "spend_of_organization", keyId: null, ...amounts });
    }
    differences.push(...compareKeys(organizationId, rows, spend.keyMicrocents));
    differences.push(...(await compareSums(store, organizationId, month, rows)));
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
  const used = new Map<string, bigint>();
  for (const { keyId, costMicrocents } of rows) {
    if (keyId !== null) used.set(keyId, (used.get(keyId) ?? 0n) + costMicrocents);
  }
  return [...new Set([...spends.keys(), ...used.keys()])].flatMap((keyId) => {
    const amounts = { expected: used.get(keyId) ?? 0n, found: spends.get(keyId) ?? 0n };
    if (amounts.expected === amounts.found) return [];
    return [{ ...SPEND, organizationId, kind: "spend_of_key" as const, keyId, ...amounts }];
  });
}

/** Compares the stored sums of days with the rows of these days. Rows have tags, and sums add up all tags. */
async function compareSums(
  store: Pick<Store, "readStoredSums">,
  organizationId: string,
  monthName: string,
  rows: readonly UsageRow[],
): Promise<UsageDifference[]> {
  const month = parseMonth(monthName);
  const differences: UsageDifference[] = [];
  for (const day of month === null ? [] : daysOf(month)) {
    const stored = await store.readStoredSums(organizationId, day);
    if (stored === null) continue;
    const [inRows, inSums] = [groupRows(rows.filter((row) => row.day === day)), groupRows(stored)];
    for (const name of new Set([...inRows.keys(), ...inSums.keys()])) {
      const [expectedIn, foundIn] = [inRows.get(name) ?? [], inSums.get(name) ?? []];
      const { keyId = null, model = null } = expectedIn[0] ?? foundIn[0] ?? {};
      for (const figure of FIGURES) {
        const [expected, found] = [sumOf(expectedIn, figure), sumOf(foundIn, figure)];
        if (expected === found) continue;
        const about = { organizationId, keyId, day, model, tags: null, figure: FIGURE_NAMES[figure] };
        differences.push({ ...about, kind: "sum_of_day", expected, found });
      }
    }
  }
  return differences;
}

/** Ignores manual corrections, which have no model and are not in the request log. */
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
    const row = found[0] ?? expected[0];
    if (row === undefined) return [];
    const { keyId, day, model } = row;
    const about = { organizationId, keyId, day, model };
    return FIGURES.flatMap((figure) =>
      compareFigure(figure, found, expected).map((difference) => ({ ...about, ...difference })),
    );
  });
}

type FigureDifference = Pick<UsageDifference, "kind" | "tags" | "figure" | "expected" | "found">;

/**
 * Compares one figure of a day, key and model: each row of tags and, if a request's log cannot name the row, the sum
 * of all rows.
 */
function compareFigure(
  figure: Figure,
  found: readonly UsageRow[],
  expected: readonly LoggedRow[],
): FigureDifference[] {
  const all = {
    tags: null,
    figure: FIGURE_NAMES[figure],
    expected: sumOf(expected, figure),
    found: sumOf(found, figure),
  };
  const tagsOf = [...new Set([...found, ...expected].map(({ tags }) => tags))].sort();
  const differences = tagsOf.flatMap((tags) => compareTagRow(figure, tags, found, expected));
  if (all.found === all.expected) {
    return differences.map((each) => ({ ...each, kind: "in_other_tag_row" as const }));
  }
  return differences.length > 0 ? differences : [{ ...all, kind: kindOf(all) }];
}

function compareTagRow(
  figure: Figure,
  tags: string,
  found: readonly UsageRow[],
  expected: readonly LoggedRow[],
): FigureDifference[] {
  const isSame = (row: UsageRow): boolean => row.tags === tags;
  const inRedis = sumOf(found.filter(isSame), figure);
  const inLog = sumOf(expected.filter(isSame), figure);
  const undecidedRows = tags === OTHER_TAGS ? expected : expected.filter(isSame);
  const undecided = sumOf(
    undecidedRows.map((row) => row.undecided),
    figure,
  );
  const [least, most] = tags === OTHER_TAGS ? [inLog, inLog + undecided] : [inLog - undecided, inLog];
  if (inRedis >= least && inRedis <= most) return [];
  const amounts = { expected: inRedis < least ? least : most, found: inRedis };
  return [{ tags, figure: FIGURE_NAMES[figure], kind: kindOf(amounts), ...amounts }];
}

function kindOf({ expected, found }: Pick<UsageDifference, "expected" | "found">) {
  return found < expected ? "missing_in_redis" : "missing_in_log";
}

export function sumOf(rows: readonly UsageFigures[], figure: Figure): bigint {
  return rows.reduce((total, row) => total + BigInt(row[figure]), 0n);
}

type Grouped = Pick<UsageRow, "day" | "keyId" | "model"> & { readonly owners?: string | undefined };

/** Names a group by day, key, owners and model. */
export function nameGroup({ day, keyId, owners = "", model }: Grouped): string {
  return `${day} ${keyId} ${owners} ${model}`;
}

export function groupRows<Row extends UsageRow>(rows: readonly Row[]): Map<string, Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const name = nameGroup(row);
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [row]);
    else group.push(row);
  }
  return groups;
}
