import * as z from "zod";
import { timestamp } from "../../settings/input-schemas.ts";
import { LIMIT_KINDS, LIMIT_PERIODS, MEMBER_LIMITS } from "../../settings/limits.ts";
import { LIMIT_SCOPES } from "../../store/types/decision.ts";
import { answer, count, windowStart } from "./fields.ts";
import { raise } from "./raise.ts";

const figures = {
  scope: z.enum(LIMIT_SCOPES),
  period: z.enum(LIMIT_PERIODS),
  kind: z.enum(LIMIT_KINDS),
  cents: z.int().describe("In force, with live raises."),
  raised_cents: z.int().describe("What of it is a temporary raise."),
  spent_cents: z.int().describe("In the window of now, rounded down."),
  remaining_cents: z.int().describe("0 when overspent."),
  resets_at: z.iso.datetime().nullable().describe("When the window ends; null: never."),
};

/** Beside a user or a group in a list. */
export const tightestLimit = answer("TightestLimit", figures);

const limit = answer("Limit", {
  ...figures,
  owner: z
    .strictObject({
      id: z.string(),
      name: z.string(),
      user_count: count().nullable().describe("Users in the group; null: it is no group."),
      key_count: count().nullable().describe("Keys that name it; null: it is no user and no group."),
    })
    .describe("What of all counts against it."),
  member_of: z
    .strictObject({ scope: z.enum(["group", "organization"]), id: z.string(), name: z.string() })
    .nullable()
    .describe(`Whose \`${MEMBER_LIMITS}\` a user has it from; null: it is its owner's own.`),
  window_start: windowStart(),
  raises: z.array(raise).describe("The live ones of it."),
});

export const limitList = answer("LimitList", {
  time: timestamp().describe("The windows are those of this time."),
  data: z.array(limit).describe("The narrowest owner's first, of each the shortest period."),
});
