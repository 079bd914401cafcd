/** What all functions of the store share. */
import type { RedisClient } from "./redis/client.ts";
import { type CalendarPeriod, monthAt } from "../../shared/time/calendar.ts";
import { integerAt, parseArray } from "./redis/parse-reply.ts";
import { AT, OUTCOME } from "./redis/reply-layouts.ts";
import type { TurnBatches } from "./redis/turn-batches.ts";
import type { FormattedCharge } from "./requests/formatted-charge.ts";
import type { AdmitInput, AdmitResult } from "./types/admission.ts";
import type { OwnSpend } from "./types/own-spend.ts";
import type { SpendFall } from "./types/settlement.ts";

export interface StoreContext {
  readonly client: RedisClient;
  /** Whole months that figures are kept after their month has ended. */
  readonly usageMonths: number;
  /** This month as Redis's clock last told; at the start a guess by this host's clock. */
  readonly month: { current: CalendarPeriod };
  /** Alerts that the scripts of this process have fired. */
  readonly alerts: { fired: number };
  /** @see admit */
  readonly admissions: TurnBatches<AdmitInput, AdmitResult>;
  /** @see chargeBrief */
  readonly briefCharges: TurnBatches<FormattedCharge, boolean>;
  /** How often spend went down by a command of this process. */
  readonly spendFalls: Record<SpendFall, number>;
  /** Requests of sessions that had no cap, since their keys had too many. */
  readonly sessions: { uncapped: number };
  /** Hears what becomes of this process's charges. */
  readonly ownSpend: OwnSpend;
}

export function countSpendFall(context: StoreContext, cause: SpendFall): void {
  context.spendFalls[cause] += 1;
}

/** Counts the alerts that a script says it fired, at this position of its reply. */
export function countFiredAlerts(context: StoreContext, reply: readonly unknown[], position: number): void {
  context.alerts.fired += integerAt(reply, position);
}

/** What scripts are given that run in a month. */
export function inputOfMonth({ name, startMs, endMs }: CalendarPeriod) {
  return { month: name, monthStartMs: String(startMs), monthEndMs: String(endMs) };
}

/**
 * Runs a script that needs this month's name. When Redis's clock says another month it answers `month_changed` and has
 * changed nothing; it is then run once more with the month that Redis named.
 * @throws Error when Redis's clock has left that month too.
 */
export async function runInMonth(
  context: StoreContext,
  run: (month: CalendarPeriod) => Promise<unknown>,
): Promise<readonly unknown[]> {
  const reply = parseArray(await run(context.month.current));
  if (reply[OUTCOME] !== "month_changed") return reply;
  context.month.current = monthAt(integerAt(reply, AT.monthChanged.timeMs));
  const again = parseArray(await run(context.month.current));
  if (again[OUTCOME] === "month_changed") {
    throw new Error("Redis's clock changes the month with each command");
  }
  return again;
}
