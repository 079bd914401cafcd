/** Query parameters and answers of lists that are sorted, filtered and counted. */
import * as z from "zod";
import { choice, count } from "./fields.ts";

export const SORTS = ["name", "spend", "last_used", "limit"] as const;
export const LIMIT_STATES = ["reached", "near", "below", "none"] as const;
export type LimitState = (typeof LIMIT_STATES)[number];

/** Maximum of each kind in sorted lists; further ones are only listed in order of creation. */
export const MAX_LISTED = 10_000;
export const DESCENDING = "-";

/** The `next` of a list that is sorted: how many entries come before. */
export const PLACE = /^[0-9]{1,5}$/;

/** @param states Those that entries can be in. */
export function arrangedFields<const States extends readonly [string, ...string[]]>(states: States) {
  return {
    sort: choice(["name", "-name", "spend", "-spend", "last_used", "-last_used", "limit", "-limit"])
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

export const totalCount = () =>
  count().optional().describe("Number of sorted entries that match. Omitted without `sort`.");
