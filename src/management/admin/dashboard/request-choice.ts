/** State of *Requests*: filters, time and columns. Everything is in the URL, so a link shows the same. */
import type { PageCall } from "./page.ts";
import { resolveOwners } from "./owner-texts.ts";

/** Filters with the API's names. */
const FILTERS = [
  "status",
  "model",
  "key_id",
  "user_id",
  "group_id",
  "upstream",
  "tag",
  "session",
  "id",
  "from",
  "to",
] as const;
export type RequestFilterName = (typeof FILTERS)[number];

const HOUR_MS = 3_600_000;
/** The last stretches of time that the page offers, by their names in the URL. */
export const LAST = {
  "15m": { label: "15 minutes", ms: HOUR_MS / 4 },
  "1h": { label: "1 hour", ms: HOUR_MS },
  "24h": { label: "24 hours", ms: 24 * HOUR_MS },
  "7d": { label: "7 days", ms: 168 * HOUR_MS },
} as const;
type LastName = keyof typeof LAST;

/** Columns that are shown unless others are chosen, in the order of the page. */
export const USUAL_COLUMNS: readonly string[] = [
  "status",
  "key",
  "model",
  "cost",
  "duration",
  "first_token",
  "input",
  "output",
];

export interface RequestChoice {
  /** As in the URL; without empty ones. */
  readonly filters: Readonly<Partial<Record<RequestFilterName, string>>>;
  /** Null: since `from`, or all times. */
  readonly last: LastName | null;
  /** Names of columns; null: the usual ones. */
  readonly columns: readonly string[] | null;
}

export function readRequestChoice({ query }: Pick<PageCall, "query">): RequestChoice {
  const given = FILTERS.flatMap((name) => {
    const value = (query.get(name) ?? "").trim();
    return value === "" ? [] : [[name, value] as const];
  });
  const filters = Object.fromEntries(given) as RequestChoice["filters"];
  const last = query.get("last") ?? "";
  const isLast = last in LAST && filters.from === undefined && filters.to === undefined;
  const columns = query.getAll("column");
  const isUsual = columns.length === 0 || columns.join() === USUAL_COLUMNS.join();
  return { filters, last: isLast ? (last as LastName) : null, columns: isUsual ? null : columns };
}

/** Returns the path with the choice as its query. */
export function addressOf(path: string, { filters, last, columns }: RequestChoice): string {
  const query = new URLSearchParams(Object.entries(filters));
  if (last !== null) query.set("last", last);
  for (const column of columns ?? []) query.append("column", column);
  return query.size === 0 ? path : `${path}?${query.toString()}`;
}

/** Returns the address with one more filter. */
export function narrowTo(
  path: string,
  choice: RequestChoice,
  filters: Readonly<Partial<Record<RequestFilterName, string>>>,
): string {
  const last = filters.from === undefined ? choice.last : null;
  return addressOf(path, { ...choice, last, filters: { ...choice.filters, ...filters } });
}

/** Returns the filters for the API. @throws AdminError 400 for an unknown user or group */
export function queryOf(
  { api, nowMs }: Pick<PageCall, "api" | "nowMs">,
  { filters, last }: RequestChoice,
): Promise<Record<string, string>> {
  const { from, to } = filters;
  return resolveOwners(api, {
    ...filters,
    ...(from === undefined ? {} : { from: inUtc(from) }),
    ...(to === undefined ? {} : { to: inUtc(to) }),
    ...(last === null ? {} : { from: new Date(nowMs - LAST[last].ms).toISOString() }),
  });
}

/** A field for a time gives it without a zone. */
function inUtc(text: string): string {
  return /T[\d:.]+$/.test(text) ? `${text}Z` : text;
}
