/** Periods of limits for Lua: replaces `-- @periods` in scripts, made from the table of periods. */
import { DAY_MS } from "../../../shared/time/calendar.ts";
import {
  ALWAYS_COUNTED,
  PERIODS,
  type WindowLength,
  type WindowPeriod,
} from "../../../shared/time/periods.ts";

const NAMES = Object.keys(PERIODS) as WindowPeriod[];
/** Months since the year 0 of `month`, "2026-11". */
const MONTHS = "tonumber(string.sub(month, 1, 4)) * 12 + tonumber(string.sub(month, 6)) - 1";

const TEXTS: Readonly<Record<string, () => string>> = {
  /** Names of the windows of a day, by its number and its month; see `windowName`. */
  windows: () => `  return { ${list((period) => formatName(period))} }\n`,
  /** When these windows end, ms. */
  ends: () => `  return { ${list((period) => formatEnd(PERIODS[period].length))} }\n`,
  /** Ranks of the periods, from the shortest. */
  ranks: () => `local RANKS = { ${list((period) => String(NAMES.indexOf(period) + 1))} }\n`,
  /** How long counters are kept from the first charge in a window on, ms. */
  retention: () =>
    `local RETENTION_MS = { ${list((period) => formatRetention(PERIODS[period].retentionDays))} }\n`,
};

/** Returns the Lua text of this name. @throws Error if there is none. */
export function formatPeriodsLua(name: string): string {
  const text = TEXTS[name]?.();
  if (text === undefined) throw new Error(`a script has periods "${name}", which nobody makes`);
  return text;
}

/** Formats an item for each period that has one. */
function list(formatItem: (period: WindowPeriod) => string | null): string {
  return NAMES.flatMap((period) => {
    const item = formatItem(period);
    return item === null ? [] : [`${period} = ${item}`];
  }).join(", ");
}

function formatName(period: WindowPeriod): string {
  const { length } = PERIODS[period];
  if (period === ALWAYS_COUNTED) return "month";
  return length === null ? `'${period}'` : `string.format('${period}:%d', ${formatNumber(length)})`;
}

function formatNumber(length: WindowLength): string {
  if ("months" in length) return divide(MONTHS, length.months);
  return divide(length.offset === 0 ? "number" : `number + ${length.offset}`, length.days);
}

function divide(number: string, by: number): string {
  return by === 1 ? number : `math.floor((${number}) / ${by})`;
}

function formatEnd(length: WindowLength | null): string | null {
  if (length === null) return null;
  const next = `(${formatNumber(length)} + 1)`;
  if ("months" in length) return `first_day(${next} * ${length.months}) * ${DAY_MS}`;
  return `(${next} * ${length.days} - ${length.offset}) * ${DAY_MS}`;
}

function formatRetention(days: number | null): string | null {
  return days === null ? null : String(days * DAY_MS);
}
