/**
 * The windows in which spend counts (`lua/include/windows.lua`): how an organization begins to count a period other than the
 * month, which every organization counts.
 *
 * A counter begins when the first limit asks for its period, and knows then what was spent before: charges move it from
 * one moment on, and what the usage rows had by then is added row by row, while requests go on. The limit itself is set
 * when that is done, so that no limit ever reads half a counter.
 */
import {
  type CalendarPeriod,
  DAY_MS,
  DAYS_BEFORE_THURSDAY,
  dayAt,
  dayNumber,
  daysOf,
  monthAt,
  monthsBackFrom,
  weekNumber,
} from "../../../shared/time/calendar.ts";
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
/** Every organization counts it, from its first request on. */
export const ALWAYS_COUNTED = "month";
export type CountedPeriod = Exclude<LimitPeriod, typeof ALWAYS_COUNTED>;
/** Counted from when the first limit asks for them. */
export const COUNTED_PERIODS = LIMIT_PERIODS.filter((period) => period !== ALWAYS_COUNTED);

/** So many days behind its beginning a window's counters are gone, at the earliest: those of other periods stay longer. */
export const KEPT_DAYS = { day: 15, week: 22 } as const;

/** The name of a window in Redis's keys, of the day "2026-11-21". */
export function windowName(period: LimitPeriod, day: string): string {
  const number = dayNumber(day);
  if (period === "day") return `day:${number}`;
  if (period === "week") return `week:${weekNumber(number)}`;
  return period === "month" ? day.slice(0, 7) : "total";
}

/** The fields of an organization's record that say what it counts, as one text. @param createdAtMs When it was created. */
export function countedText(whole: string | null | undefined, createdAtMs: number): string {
  return `${ALWAYS_COUNTED}=${monthAt(createdAtMs).name} ${whole ?? ""}`;
}

/** The first day of a window with such a name; null: that of all time. */
export function windowStart(name: string): string | null {
  const [period = "", number = ""] = name.split(":");
  if (period === "total") return null;
  if (period === "day") return dayAt(Number(number) * DAY_MS).name;
  return period === "week" ? mondayOf(Number(number)) : `${name}-01`;
}

/** The first day of the week of such a number. */
export function mondayOf(week: number): string {
  return dayAt((week * 7 - DAYS_BEFORE_THURSDAY) * DAY_MS).name;
}

/**
 * Lets an organization count these periods, whole from when this returns; those that it counts already cost one command. May
 * be repeated, by several at once and after a crash in between.
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

/** Those that a record's field names. */
function periodsIn(field: string | null | undefined): string[] {
  return [...(field ?? "").matchAll(PERIOD_IN_FIELD)].map(([, period = ""]) => period);
}

/** What stands for the first window that is whole; of the total the first month that it knows. */
function firstWindow(context: StoreContext, period: CountedPeriod, nowMs: number): string {
  if (period !== "total") return windowName(period, firstDay(period, nowMs));
  return keptMonths(context, nowMs).at(-1)?.name ?? "total";
}

/** Of which there is usage, newest first. */
function keptMonths({ usageMonths }: StoreContext, nowMs: number): readonly CalendarPeriod[] {
  return monthsBackFrom(monthAt(nowMs), usageMonths);
}

/** Of the first window that is whole: the one before that of now, in which requests may have been admitted that still run. */
function firstDay(period: "day" | "week", nowMs: number): string {
  const today = dayAt(nowMs);
  if (period === "day") return dayAt(today.startMs - DAY_MS).name;
  return mondayOf(weekNumber(dayNumber(today.name)) - 1);
}

/** The days whose rows count in it, up to today. */
function daysToSeed(context: StoreContext, period: CountedPeriod, nowMs: number): readonly string[] {
  const today = dayAt(nowMs).name;
  if (period !== "total") {
    const first = dayNumber(firstDay(period, nowMs));
    const count = dayNumber(today) - first + 1;
    return Array.from({ length: count }, (_, index) => dayAt((first + index) * DAY_MS).name);
  }
  return keptMonths(context, nowMs)
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

/** The periods that limits ask for. */
export function periodsOf(limits: readonly { readonly period: LimitPeriod }[]): CountedPeriod[] {
  return COUNTED_PERIODS.filter((period) => limits.some((limit) => limit.period === period));
}
