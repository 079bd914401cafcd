/** Windows of an organization's limits that can be compared with usage, and their counters. */
import {
  type CalendarPeriod,
  dayAt,
  DAY_MS,
  daysOf,
  expiryOf,
  monthAt,
  parseMonth,
} from "../../../shared/time/calendar.ts";
import { addDays, daysIn, monthsIn } from "../../../shared/time/day-range.ts";
import { formatWindowEnd, formatWindowStart, PERIODS } from "../../../shared/time/periods.ts";
import { LIMIT_PERIODS, type LimitPeriod } from "../../../shared/settings/limits.ts";
import type { StoreContext } from "../context.ts";
import { timeMs } from "../redis/clock.ts";
import { organizationKey, spendKey } from "../redis/keys.ts";
import { parseInteger } from "../redis/parse-reply.ts";
import { storeOf } from "../run.ts";
import { LIMIT_SCOPES } from "../../../shared/stored/decision.ts";
import type {
  CountedWindow,
  ObstructedWindows,
  WindowObstacle,
  WindowSpend,
  WindowStore,
} from "../../../shared/stored/windows.ts";
import { countedText, windowName, windowStart } from "./windows.ts";

const PERIOD_IN_FIELD = /([a-z]+)=(\S+)/g;
/** Windows that expire this soon may be gone before they are read. */
const SOON_MS = 3_600_000;

export const createWindowStore = storeOf<WindowStore>({
  async listWindows(context, organizationId, monthName) {
    const month = parseMonth(monthName);
    if (month === null) throw new RangeError(`"${monthName}" is not a month like "2026-11"`);
    const [whole, seeding, createdAt] = await context.client.hmget(
      organizationKey(organizationId),
      "windows",
      "windows_seeding",
      "created_at",
    );
    const createdAtMs = parseInteger(createdAt ?? "0");
    const now = await timeMs(context);
    const firsts = parseFirsts(countedText(whole, createdAtMs));
    const beginning = parseFirsts(seeding);
    const windows: CountedWindow[] = [];
    const obstructed: ObstructedWindows[] = [];
    for (const period of LIMIT_PERIODS) {
      if (beginning.has(period)) obstructed.push({ period, from: null, to: null, obstacle: "beginning" });
      const first = firsts.get(period);
      if (first === undefined) continue;
      const all = list(period, month, { now, createdAtMs, first }).map(
        (window) => [obstacleOf(context, window, now), window] as const,
      );
      windows.push(...all.flatMap(([obstacle, window]) => (obstacle === null ? [window] : [])));
      obstructed.push(...group(period, all));
    }
    return { windows, obstructed };
  },

  async readWindow({ client }, organizationId, { period, start }) {
    // For the total, any day gives the same name.
    const name = windowName(period, start ?? "1970-01-01");
    const fields = await client.hgetall(spendKey(organizationId, name));
    return Object.entries(fields).flatMap(([field, amount]) => parseSpend(field, amount));
  },
});

/** Parses "day=day:20783 total=2025-10": the first day of the first complete window of each period. */
function parseFirsts(field: string | null | undefined): ReadonlyMap<string, string> {
  const all = [...(field ?? "").matchAll(PERIOD_IN_FIELD)];
  return new Map(all.map(([, period = "", name = ""]) => [period, windowStart(name) ?? ""]));
}

interface Since {
  readonly now: number;
  readonly createdAtMs: number;
  readonly first: string;
}

/** Lists windows that have started, in order. */
function list(
  period: LimitPeriod,
  month: CalendarPeriod,
  { now, createdAtMs, first }: Since,
): CountedWindow[] {
  const today = dayAt(now).name;
  const starts = new Set(daysOf(month).map((day) => formatWindowStart(period, day)));
  return [...starts].flatMap((start): CountedWindow[] => {
    if (start === null) {
      // Nothing was counted before the organization was created.
      const created = `${monthAt(createdAtMs).name}-01`;
      const months = monthsIn({ from: first > created ? first : created, to: today });
      return [{ period, start, days: [], months }];
    }
    return start >= first && start <= today ? [{ period, start, ...contentOf(period, start, today) }] : [];
  });
}

/** Returns the days and months of a window up to today. */
function contentOf(
  period: LimitPeriod,
  start: string,
  today: string,
): Pick<CountedWindow, "days" | "months"> {
  const { length } = PERIODS[period];
  const last = addDays((formatWindowEnd(period, start) ?? "").slice(0, today.length), -1);
  const range = { from: start, to: last < today ? last : today };
  const areMonths = length !== null && "months" in length;
  return areMonths ? { days: [], months: monthsIn(range) } : { days: daysIn(range), months: [] };
}

function obstacleOf(
  { usageMonths }: StoreContext,
  { period, start, days, months }: CountedWindow,
  now: number,
): WindowObstacle | null {
  const soon = now + SOON_MS;
  const { retentionDays } = PERIODS[period];
  if (retentionDays !== null && start !== null && Date.parse(start) + retentionDays * DAY_MS <= soon) {
    return "counters_expired";
  }
  const firstMonth = months[0] ?? days[0]?.slice(0, 7);
  return firstMonth !== undefined && expiryOf(firstMonth, usageMonths) <= soon ? "usage_expired" : null;
}

/** Groups the obstructed windows. They are adjacent, because the oldest ones expire first. */
function group(
  period: LimitPeriod,
  all: readonly (readonly [WindowObstacle | null, CountedWindow])[],
): ObstructedWindows[] {
  return (["counters_expired", "usage_expired"] as const).flatMap((obstacle) => {
    const starts = all.flatMap(([one, { start }]) => (one === obstacle ? [start] : []));
    const [from] = starts;
    return from === undefined ? [] : [{ period, from, to: starts.at(-1) ?? null, obstacle }];
  });
}

/** Parses one field of spend; the hash also has reserved amounts and fired alerts. */
function parseSpend(field: string, amount: string): WindowSpend[] {
  const [name = "", id = null] = field.split(":", 2);
  const scope = LIMIT_SCOPES.find((known) => known === name);
  return scope === undefined ? [] : [{ scope, id, microcents: BigInt(amount) }];
}
