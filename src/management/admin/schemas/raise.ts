import * as z from "zod";
import { MAX_CENTS } from "../../../shared/money/money.ts";
import { whole } from "../../../shared/settings/input-schemas.ts";
import { LIMIT_PERIODS } from "../../../shared/settings/limits.ts";
import { shownRaise } from "../../../shared/settings/raises.ts";
import { choice, input, named, text } from "./fields.ts";

const TIME_EXPECTATION = "expected an RFC 3339 time in the future such as 2026-12-31T23:59:59Z";

export const raiseCreation = input("RaiseCreation", {
  period: choice(LIMIT_PERIODS).describe("Period of the increased cap."),
  add_cents: whole(1, MAX_CENTS, "cents").describe("Amount of the increase."),
  expires_at: z.iso
    .datetime({ offset: true, error: TIME_EXPECTATION })
    .describe("End of the increase, also in the middle of a window.")
    .meta({ examples: ["2026-12-31T23:59:59Z"] }),
  reason: text(200).describe("For people; the audit log has it too."),
});
export type RaiseCreation = z.output<typeof raiseCreation>;

export const raise = named("Raise", shownRaise);
