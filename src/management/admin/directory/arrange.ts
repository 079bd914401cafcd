/** One page of a list: searched, filtered and sorted. */
import { FIRST_ALERTS } from "../../../shared/settings/limits.ts";
import { isReached, MICROCENTS_PER_CENT } from "../../../shared/money/money.ts";
import { invalidField } from "../admin-error.ts";
import { AFTER_EXPECTATION, DEFAULT_PAGE_LIMIT } from "../schemas/page.ts";
import { DESCENDING, type LimitState, PLACE, SORTS } from "../schemas/arranged.ts";
import type { Listed } from "./list-owners.ts";

interface Wanted {
  readonly sort?: string | undefined;
  readonly search?: string | undefined;
  readonly state?: string | undefined;
  readonly limit_state?: LimitState | undefined;
  readonly user_id?: string | undefined;
  readonly group_id?: string | undefined;
  readonly after?: string | undefined;
  readonly limit?: number | undefined;
}

export interface Arranged<Row> {
  readonly items: readonly Row[];
  readonly next: string | null;
  readonly total: number;
  /** Spend of all matching rows, by currency. */
  readonly totals: readonly Total[];
}

interface Total {
  readonly currency: string;
  readonly count: number;
  readonly spentMicrocents: bigint;
}

/** @throws AdminError 400 for the `next` of a list in another order */
export function arrange<Row extends Listed<{ readonly id: string; readonly name: string }>>(
  rows: readonly Row[],
  wanted: Wanted,
): Arranged<Row> {
  if (wanted.after !== undefined && !PLACE.test(wanted.after)) {
    throw invalidField("after", AFTER_EXPECTATION);
  }
  const found = rows.filter((row) => matches(row, wanted)).sort(comparisonOf(wanted.sort ?? "name"));
  const start = Number(wanted.after ?? 0);
  const end = start + (wanted.limit ?? DEFAULT_PAGE_LIMIT);
  return {
    items: found.slice(start, end),
    next: end < found.length ? String(end) : null,
    total: found.length,
    totals: addUp(found),
  };
}

function addUp(rows: readonly Listed<unknown>[]): Total[] {
  const totals = new Map<string, Total>();
  for (const { currency, spentMicrocents } of rows) {
    const { count, spentMicrocents: before } = totals.get(currency) ?? { count: 0, spentMicrocents: 0n };
    totals.set(currency, { currency, count: count + 1, spentMicrocents: before + spentMicrocents });
  }
  return [...totals.values()];
}

function matches(row: Listed<{ readonly id: string }>, wanted: Wanted): boolean {
  const { search, state, limit_state: limitState, user_id: userId, group_id: groupId } = wanted;
  return (
    (search === undefined || row.record.id === search || row.text.includes(search.toLowerCase())) &&
    (state === undefined || row.state === state) &&
    (userId === undefined || row.userId === userId) &&
    (groupId === undefined || row.groupId === groupId) &&
    (limitState === undefined || limitStateOf(row.tightest) === limitState)
  );
}

export function limitStateOf(
  limit: Pick<NonNullable<Listed<unknown>["tightest"]>, "kind" | "cents" | "spent_cents"> | null,
): LimitState {
  if (limit === null) return "none";
  if (isReached(limit.cents, BigInt(limit.spent_cents) * BigInt(MICROCENTS_PER_CENT))) return "reached";
  return limit.spent_cents * 100 >= limit.cents * FIRST_ALERTS[limit.kind] ? "near" : "below";
}

const NAMES = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
/** Compares names as people sort them: "key 9" before "key 10", case ignored. */
export const compareNames = (one: string, other: string): number => NAMES.compare(one, other);

type Row = Listed<{ readonly id: string; readonly name: string }>;

function byName(one: Row, other: Row): number {
  return compareNames(one.record.name, other.record.name) || (one.record.id < other.record.id ? -1 : 1);
}

const COMPARE: Readonly<Record<(typeof SORTS)[number], (one: Row, other: Row) => number>> = {
  name: byName,
  spend: (one, other) => Number(one.spentMicrocents - other.spentMicrocents),
  last_used: (one, other) => (one.lastUsedMs ?? 0) - (other.lastUsedMs ?? 0),
  limit: (one, other) => one.tightness - other.tightness,
};

/** Compares rows; equal ones are sorted by name. */
function comparisonOf(sort: string): (one: Row, other: Row) => number {
  const isDescending = sort.startsWith(DESCENDING);
  const compare = COMPARE[SORTS.find((known) => sort.endsWith(known)) ?? "name"];
  return (one, other) => (isDescending ? compare(other, one) : compare(one, other)) || byName(one, other);
}
