import * as z from "zod";
import { record, timestamp } from "../../../shared/settings/input-schemas.ts";
import { ORGANIZATION_SETTINGS } from "../../../shared/settings/organization.ts";
import { answer, choice, count, microcents, month } from "./fields.ts";
import { usageQuery } from "./usage.ts";

/** Orders of the list; "-" means the largest first. */
export const SPEND_SORTS = ["name", "-spent", "-forecast", "-requests", "-errors"] as const;

export const allSpendQuery = record({
  month: usageQuery.shape.month,
  sort: choice(SPEND_SORTS).optional().describe("Default: `-spent`."),
  format: choice(["json", "csv"]).optional(),
});

export const allSpend = answer("AllSpend", {
  month: month(),
  time: timestamp(),
  data: z.array(
    z.strictObject({
      organization_id: z.string(),
      organization_name: z.string(),
      deleted_at: timestamp().nullable(),
      currency: z.string(),
      spent_microcents: microcents(),
      forecast_microcents: microcents()
        .nullable()
        .describe(
          "The month at the pace of the last seven days; null: no pace is known, or the month is over.",
        ),
      limits: ORGANIZATION_SETTINGS.limits.kind.output.describe("Its hard caps and budgets now."),
      requests: count().nullable().describe("Null beyond the 500 organizations that spent most."),
      recent_requests: count()
        .nullable()
        .describe(
          "Requests of the last 24 hours with a known outcome, of at most the newest 10,000. Null: as `requests`, the month is over, or 100,000 requests of other organizations were counted.",
        ),
      recent_errors: count()
        .nullable()
        .describe("Those of them that returned 5xx or whose stream broke off."),
    }),
  ),
});
