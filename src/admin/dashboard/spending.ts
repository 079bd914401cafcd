/** A month's spend and what it is held against, of a key or of an organization, as pages and pictures read it. */
import { MICROCENTS_PER_CENT } from "../../money/money.ts";
import type { KeyView } from "./views.ts";

export interface Spending {
  readonly spentMicrocents: number;
  readonly hardCapCents: number | null;
  readonly budgetCents: number | null;
}

/** From the API's own fields, which both have. */
export function spendingOf(
  owner: Pick<KeyView, "spent_microcents" | "hard_cap_cents" | "budget_cents">,
): Spending {
  return {
    spentMicrocents: owner.spent_microcents,
    hardCapCents: owner.hard_cap_cents,
    budgetCents: owner.budget_cents,
  };
}

/** Nothing is refused for it; alerts and pages say so. */
export function isBudgetReached({ budgetCents, spentMicrocents }: Spending): boolean {
  return budgetCents !== null && spentMicrocents >= budgetCents * MICROCENTS_PER_CENT;
}

/** Whether so much is more than the cap. */
export function isOverCap({ hardCapCents }: Pick<Spending, "hardCapCents">, microcents: number): boolean {
  return hardCapCents !== null && microcents > hardCapCents * MICROCENTS_PER_CENT;
}
