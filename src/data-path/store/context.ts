/** State that all functions of the store share. */
import type { RedisClient } from "./redis/client.ts";
import { type CalendarPeriod, monthAt } from "../../shared/time/calendar.ts";
import { integerAt, parseArray } from "./redis/parse-reply.ts";
import { AT, OUTCOME } from "./redis/reply-layouts.ts";
import type { TurnBatches } from "./redis/turn-batches.ts";
import type { FormattedCharge } from "./requests/formatted-charge.ts";
import type { AdmitInput, AdmitResult } from "../../shared/stored/admission.ts";
import type { OwnSpend } from "../../shared/stored/own-spend.ts";
import type { SpendFall } from "../../shared/stored/settlement.ts";

export interface StoreContext {
  readonly client: RedisClient;
  /** Number of whole months for which figures are kept after their month has ended. */
  readonly usageMonths: number;
  /** Current month by the latest reply of Redis; at startup a guess by this host's clock. */
  readonly month: { current: CalendarPeriod };
  /** Number of alerts fired by scripts of this process. */
  readonly alerts: { fired: number };
  /** @see admit */
  readonly admissions: TurnBatches<AdmitInput, AdmitResult>;
  /** @see chargeSingle */
  readonly singleCharges: TurnBatches<FormattedCharge, boolean>;
  /** Number of times a command of this process lowered spend. */
  readonly spendFalls: Record<SpendFall, number>;
  /** Number of requests whose session had no cap because their key has too many sessions. */
  readonly sessions: { uncapped: number };
  /** Notified of the outcome of this process's charges. */
  readonly ownSpend: OwnSpend;
}

export function countSpendFall(context: StoreContext, cause: SpendFall): void {
  context.spendFalls[cause] += 1;
}

/** Counts the fired alerts that a script reports at this position of its reply. */
export function countFiredAlerts(context: StoreContext, reply: readonly unknown[], position: number): void {
  context.alerts.fired += integerAt(reply, position);
}

/** Returns the script arguments that describe a month. */
export function inputOfMonth({ name, startMs, endMs }: CalendarPeriod) {
  return { month: name, monthStartMs: String(startMs), monthEndMs: String(endMs) };
}

/**
 * Runs a script that needs the current month's name. If Redis's clock is in another month, the script changes
 * nothing and replies `month_changed`; it then runs once more with the month that Redis named.
 * @throws Error if Redis's clock has left that month as well.
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
