/**
 * Windows in which spend is counted (`lua/include/windows.lua`): how an organization starts to count a period
 * other than the month, which every organization counts.
 * A counter starts when the first limit needs its period, and must include earlier spend: from one moment on
 * charges update it, and the usage rows up to then are added row by row while requests continue. The limit is
 * set when that is done, so no limit reads an incomplete counter.
 */
import {
  type CalendarPeriod,
  dayAt,
  daysOf,
  monthAt,
  monthsBackFrom,
} from "../../../shared/time/calendar.ts";
import {
  ALWAYS_COUNTED,
  formatWindowStart,
  PERIODS,
  windowNumber,
  windowStartMs,
} from "../../../shared/time/periods.ts";
import { addDays, daysIn } from "../../../shared/time/day-range.ts";
import { LIMIT_PERIODS, type LimitPeriod } from "../../../shared/settings/limits.ts";
import type { StoreContext } from "../context.ts";
import { timeMs } from "../redis/clock.ts";
import { organizationKey, usageKey, windowSeedKey } from "../redis/keys.ts";
import { parseArray } from "../redis/parse-reply.ts";
import { OUTCOME } from "../redis/reply-layouts.ts";

/** Rows that one script adds: under a millisecond. */
const BATCH = 200;
const SCAN_COUNT = "500";
const COST_FIGURE = "microcents";
const PERIOD_IN_FIELD = /([a-z]+)=/g;
export type CountedPeriod = Exclude<LimitPeriod, typeof ALWAYS_COUNTED>;
/** Periods that are counted once a limit needs them. */
export const COUNTED_PERIODS = LIMIT_PERIODS.filter((period) => period !== ALWAYS_COUNTED);

/** Returns the name in Redis's keys of the window with the day "2026-11-21". */
export function windowName(period: LimitPeriod, day: string): string {
  const { length } = PERIODS[period];
  if (length === null) return period;
  return period === ALWAYS_COUNTED
    ? day.slice(0, "2026-11".length)
    : `${period}:${windowNumber(length, day)}`;
}

/** Joins the fields of an organization's record that list its counters. @param createdAtMs When it was created. */
export function countedText(whole: string | null | undefined, createdAtMs: number): string {
  return `${ALWAYS_COUNTED}=${monthAt(createdAtMs).name} ${whole ?? ""}`;
}

/** Returns the first day of a window by its name; null: the window of all time. */
export function windowStart(name: string): string | null {
  const [period, number] = name.split(":");
  const known = LIMIT_PERIODS.find((one) => one === period);
  if (known === undefined) return `${name}-01`;
  const { length } = PERIODS[known];
  return length === null ? null : dayAt(windowStartMs(length, Number(number))).name;
}

/**
 * Makes an organization count these periods, complete when this returns; periods that it counts already cost
 * one command. May be repeated, also concurrently and after a crash.
 */
export async function ensureWindows(
  context: StoreContext,
  organizationId: string,
  periods: readonly CountedPeriod[],
): Promise<void> {
  if (periods.length === 0) return;
  const { client } = context;
  const counted = await client.hget(organizationKey(organizationId), "windows");
  const wanted = periods.filter((period) => !periodsIn(counted).includes(period));
  if (wanted.length === 0) return;
  const now = await timeMs(context);
  const reply = parseArray(
    await client.igwBeginWindows({
      organization: organizationKey(organizationId),
      furtherArguments: wanted.map((period) => `${period}=${firstWindow(context, period, now)}`),
    }),
  );
  if (reply[OUTCOME] === "not_found") return;
  for (const period of COUNTED_PERIODS.filter((one) => reply.includes(one))) {
    await seed(context, organizationId, period, now);
  }
}

/** Returns the periods in a record's field. */
function periodsIn(field: string | null | undefined): string[] {
  return [...(field ?? "").matchAll(PERIOD_IN_FIELD)].map(([, period = ""]) => period);
}

/** Returns the name of the first complete window; for the total the first month that it includes. */
function firstWindow(context: StoreContext, period: CountedPeriod, nowMs: number): string {
  const first = firstDay(period, nowMs);
  return first === null ? (retainedMonths(context, nowMs).at(-1)?.name ?? period) : windowName(period, first);
}

/** Lists months with kept usage, newest first. */
function retainedMonths({ usageMonths }: StoreContext, nowMs: number): readonly CalendarPeriod[] {
  return monthsBackFrom(monthAt(nowMs), usageMonths);
}

/**
 * Returns the first day of the first complete window: the previous one, because requests admitted in it may
 * still run. Null: all time.
 */
function firstDay(period: CountedPeriod, nowMs: number): string | null {
  const start = formatWindowStart(period, dayAt(nowMs).name);
  return start === null ? null : formatWindowStart(period, addDays(start, -1));
}

/** Returns the days up to today whose rows the counter includes. */
function daysToSeed(context: StoreContext, period: CountedPeriod, nowMs: number): readonly string[] {
  const today = dayAt(nowMs).name;
  const first = firstDay(period, nowMs);
  if (first !== null) return daysIn({ from: first, to: today });
  return retainedMonths(context, nowMs)
    .flatMap((month) => daysOf(month))
    .filter((day) => day <= today);
}

async function seed(
  context: StoreContext,
  organizationId: string,
  period: CountedPeriod,
  nowMs: number,
): Promise<void> {
  const seeded = windowSeedKey(organizationId, period);
  for (const day of daysToSeed(context, period, nowMs)) await seedDay(context, organizationId, period, day);
  await context.client.igwFinishWindows({
    organization: organizationKey(organizationId),
    seed: seeded,
    period,
  });
}

async function seedDay(
  { client }: StoreContext,
  organizationId: string,
  period: CountedPeriod,
  day: string,
): Promise<void> {
  const usage = usageKey(organizationId, day);
  let cursor = "0";
  do {
    const [next, found] = await client.hscan(usage, cursor, "MATCH", `*:${COST_FIGURE}`, "COUNT", SCAN_COUNT);
    cursor = next;
    const rows = found
      .filter((_, position) => position % 2 === 0)
      .map((field) => field.slice(0, -COST_FIGURE.length));
    for (let start = 0; start < rows.length; start += BATCH) {
      await client.igwSeedWindows({
        organization: organizationKey(organizationId),
        usage,
        seed: windowSeedKey(organizationId, period),
        period,
        day,
        furtherArguments: rows.slice(start, start + BATCH),
      });
    }
  } while (cursor !== "0");
}

/** Returns the periods that these limits need. */
export function periodsOf(limits: readonly { readonly period: LimitPeriod }[]): CountedPeriod[] {
  return COUNTED_PERIODS.filter((period) => limits.some((limit) => limit.period === period));
}
