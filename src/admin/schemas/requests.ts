import { z } from "zod";
import { timestamp } from "../../settings/input-schemas.ts";
import { count, named } from "./fields.ts";
import { pageOf } from "./page.ts";

/** Two places in two streams, or the end of one: what the store gives as `next`. */
export const REQUEST_CURSOR = /^(?:\d{1,20}-\d{1,20}|-)_(?:\d{1,20}-\d{1,20}|-)$/;

export const recentRequest = named(
  "Request",
  z.strictObject({
    object: z.literal("request"),
    id: z.string().meta({ examples: ["req_01934f6e-7d3a-7c1e-9a40-5f0c2b8d6e11"] }),
    created_at: timestamp().meta({ description: "When it came." }),
    recorded_at: timestamp().meta({ description: "When it ended." }),
    key_id: z.string(),
    model: z.string().nullable(),
    route: z.string().meta({ examples: ["POST /v1/chat/completions"] }),
    status: z
      .int()
      .nullable()
      .meta({ description: "Null: its worker died and another has closed its record." }),
    error_code: z.string().nullable(),
    input_tokens: count().meta({ description: "Without the cached ones." }),
    cached_input_tokens: count(),
    output_tokens: count(),
    reasoning_tokens: count(),
    estimated: z.boolean(),
    cost_microcents: z.int(),
    cost_cents: z.int(),
    checks: z
      .array(
        z.strictObject({
          name: z.string(),
          passed: z.boolean(),
          figures: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
        }),
      )
      .meta({ description: "Every check in its order, with the figures that it was decided by." }),
  }),
);
export const recentRequestPage = pageOf("RequestPage", recentRequest);
