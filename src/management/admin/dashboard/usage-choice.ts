/** State of *Usage*: days, filters, grouping and figure. Everything is in the URL, so a link shows the same. */
import { daysIn, type DayRange } from "../../../shared/time/day-range.ts";
import { isTagName } from "../../../shared/usage/tags.ts";
import { formatCount, formatMoney, formatTickCount, formatTickMoney } from "../format.ts";
import type { PageCall } from "./page.ts";
import { addUp, parseRange } from "./usage-range.ts";
import type { UsageRowView } from "./views.ts";

export const USAGE_UNITS = ["hour", "day", "week", "month"] as const;
export type UsageUnit = (typeof USAGE_UNITS)[number];

/** Groupings of usage, in addition to `tag:` with a tag's name. */
export const USAGE_GROUPS = ["key", "user", "group", "model", "upstream", "session"] as const;
export type UsageGroupName = (typeof USAGE_GROUPS)[number];
const TAG_PREFIX = "tag:";

interface Metric {
  readonly label: string;
  /** Unit of the axis. */
  readonly unitOf: (currency: string) => string;
  readonly of: (rows: readonly UsageRowView[]) => number;
  readonly format: (value: number, currency: string) => string;
  readonly formatTick: (value: number) => string;
}

/** By their names in the API's `order`. */
export const USAGE_METRICS = {
  cost: {
    label: "Cost",
    unitOf: (currency) => currency,
    of: (rows) => addUp(rows, "cost_microcents"),
    format: formatMoney,
    formatTick: formatTickMoney,
  },
  requests: {
    label: "Requests",
    unitOf: () => "requests",
    of: (rows) => addUp(rows, "requests"),
    format: formatCount,
    formatTick: formatTickCount,
  },
  tokens: {
    label: "Tokens",
    unitOf: () => "tokens",
    of: (rows) =>
      addUp(rows, "input_tokens") + addUp(rows, "cached_input_tokens") + addUp(rows, "output_tokens"),
    format: formatCount,
    formatTick: formatTickCount,
  },
} as const satisfies Record<string, Metric>;
export type UsageMetric = keyof typeof USAGE_METRICS;
/** Figure that is no sum: percentiles of the requests that are still listed. */
export const LATENCY = "latency";

/** Filters, in the API's names. */
const USAGE_FILTERS = ["key_id", "user_id", "group_id", "model", "tag", "session"] as const;
export type UsageFilter = (typeof USAGE_FILTERS)[number];

export interface UsageChoice {
  readonly range: DayRange;
  readonly unit: UsageUnit;
  /** One of the groups, or "tag:team". */
  readonly by: string;
  readonly metric: UsageMetric | typeof LATENCY;
  /** Empty: all. */
  readonly filters: Readonly<Record<UsageFilter, string>>;
}

export function readUsageChoice({ query, nowMs }: Pick<PageCall, "query" | "nowMs">): UsageChoice {
  const range = parseRange(query.get("from"), query.get("to"), nowMs);
  const text = (name: string): string => (query.get(name) ?? "").trim();
  const [by, metric] = [text("by"), text("metric")];
  return {
    range,
    unit: chooseUnit(range, text("unit")),
    by: isGroup(by) ? by : "key",
    metric: isMetric(metric) ? metric : "cost",
    filters: Object.fromEntries(USAGE_FILTERS.map((name) => [name, text(name)])) as UsageChoice["filters"],
  };
}

/** Days that are shown hour by hour. */
const MAX_DAYS_BY_HOUR = 7;
/** More columns than these become months. */
const MAX_DAYS = 93;

/** The unit that is asked for; another one if that would make too many columns. */
export function chooseUnit(range: DayRange, wanted = ""): UsageUnit {
  const days = daysIn(range).length;
  const most: Readonly<Record<string, number>> = {
    hour: MAX_DAYS_BY_HOUR,
    day: MAX_DAYS,
    week: Infinity,
    month: Infinity,
  };
  const unit = USAGE_UNITS.find((one) => one === wanted);
  if (unit !== undefined && days <= (most[unit] ?? 0)) return unit;
  return days > MAX_DAYS ? "month" : "day";
}

function isGroup(by: string): boolean {
  return USAGE_GROUPS.some((group) => group === by) || tagOf(by) !== null;
}

function isMetric(metric: string): metric is UsageChoice["metric"] {
  return metric in USAGE_METRICS || metric === LATENCY;
}

/** The tag that usage is grouped by; null: another part. */
export function tagOf(by: string): string | null {
  const name = by.startsWith(TAG_PREFIX) ? by.slice(TAG_PREFIX.length) : "";
  return isTagName(name) ? name : null;
}

/** Query of the page's address. */
export function addressOf({ range, unit, by, metric, filters }: UsageChoice): string {
  const values = { ...range, unit, by, metric, ...filters };
  return new URLSearchParams(Object.entries(values).filter(([, value]) => value !== "")).toString();
}

/** Returns whether only requests that are still listed have it. */
export function isOfListedRequests({ unit, by, metric, filters }: UsageChoice): boolean {
  const isListed = unit === "hour" || by === "session" || by === "upstream";
  return isListed || metric === LATENCY || filters.session !== "";
}
