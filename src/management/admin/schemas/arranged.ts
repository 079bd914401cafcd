/** Query parameters and answers of lists that are sorted, filtered and counted. */
import * as z from "zod";
import { answer, choice, count, microcents } from "./fields.ts";

export const SORTS = ["name", "spend", "last_used", "limit"] as const;
type Sort = (typeof SORTS)[number];
export const LIMIT_STATES = ["reached", "near", "below", "none"] as const;
export type LimitState = (typeof LIMIT_STATES)[number];

/** Maximum of each kind in sorted lists; further ones are only listed in order of creation. */
export const MAX_LISTED = 10_000;
export const DESCENDING = "-";

/** The `next` of a list that is sorted: how many entries come before. */
export const PLACE = /^[0-9]{1,5}$/;

/** @param states Those that entries can be in. */
export function arrangedFields<const States extends readonly [string, ...string[]]>(
  states: States,
  sorts: readonly Sort[] = SORTS,
) {
  return {
    sort: choice(sorts.flatMap((sort) => [sort, `${DESCENDING}${sort}` as const]))
      .optional()
      .describe(
        `Order of the first ${MAX_LISTED.toLocaleString("en-US")} entries; \`limit\`: by the used share of the tightest limit. \`-\` reverses it: \`-spend\`. Default: the order of their creation.`,
      ),
    state: z
      .enum(states, { error: `expected ${states.join(" or ")}` })
      .optional()
      .describe("With `sort`: only entries in this state."),
    limit_state: choice(LIMIT_STATES)
      .optional()
      .describe(
        "With `sort`: only entries whose tightest limit is in this state. `near`: 90 % of a cap, 80 % of a budget.",
      ),
  };
}

/** Spend of matching entries in one currency. */
const listTotal = answer("ListTotal", {
  currency: z.string().meta({ description: "ISO 4217.", examples: ["USD"] }),
  count: count().describe("Number of matching entries."),
  spent_microcents: microcents().describe("Spend of the matching entries in this month."),
});

/** Count and totals of a sorted list. */
export const arrangedTotals = () => ({
  total_count: count().optional().describe("With `sort`: number of matching entries."),
  totals: z.array(listTotal).optional().describe("With `sort`: spend of all matching entries, by currency."),
});
