/** A month's spend and what it is held against, of a key or of an organization, as pages and pictures read it. */
import { isReached, roomUnder } from "../../../shared/money/money.ts";
import { type ShownMonth, shownMonthOf } from "../../../shared/settings/month-limits.ts";
import type { KeyView } from "./views.ts";

export interface Spending {
  readonly spentMicrocents: number;
  /** The month's; null for none. */
  readonly monthCapCents: number | null;
  readonly monthBudgetCents: number | null;
}

/** From the API's own fields, which both have. */
export function spendingOf(owner: ShownMonth & Pick<KeyView, "spent_microcents">): Spending {
  return {
    spentMicrocents: Number(owner.spent_microcents),
    monthCapCents: shownMonthOf(owner, "cap"),
    monthBudgetCents: shownMonthOf(owner, "budget"),
  };
}

/** Nothing is refused for it; alerts and pages say so. */
export function isBudgetReached({ monthBudgetCents, spentMicrocents }: Spending): boolean {
  return monthBudgetCents !== null && isReached(monthBudgetCents, BigInt(spentMicrocents));
}

/** Whether so much is more than the cap. */
export function isOverCap({ monthCapCents }: Pick<Spending, "monthCapCents">, microcents: number): boolean {
  return monthCapCents !== null && roomUnder(monthCapCents, BigInt(Math.ceil(microcents))) < 0n;
}
