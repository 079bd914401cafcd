/**
 * What a key is told of itself and of its requests. The answers are made by these schemas' types, and the customers'
 * OpenAPI document of the schemas, so neither says what the other does not.
 */
import * as z from "zod";

const cents = () => z.int();
const capCents = () => z.int().nullable();
const count = () => z.int().min(0);
const time = () => z.iso.datetime();

/** `GET /v1/key`. */
export const keyStatus = z.strictObject({
  object: z.literal("key"),
  id: z.string().meta({ examples: ["key_01934f6e-7d3a-7c1e-9a40-5f0c2b8d6e11"] }),
  name: z.string(),
  display: z.string().meta({ description: "What people recognise the key by.", examples: ["sk-igw-…a1B2"] }),
  organization: z.strictObject({
    id: z.string(),
    name: z.string(),
    spent_cents: cents().describe("Of all its keys, in `month`, rounded down."),
    hard_cap_cents: capCents().describe("Null: none."),
    budget_cents: capCents().describe("Alerts only; null: none."),
    remaining_cents: capCents().describe(
      "The cap without what is spent; null without a cap, 0 when overspent.",
    ),
  }),
  currency: z.string().meta({ description: "ISO 4217, of every amount.", examples: ["USD"] }),
  month: z
    .string()
    .meta({ description: "UTC calendar month.", pattern: "^[0-9]{4}-[0-9]{2}$", examples: ["2026-11"] }),
  resets_at: time().meta({ description: "When the next month begins.", examples: ["2026-12-01T00:00:00Z"] }),
  rate_limit: z.strictObject({
    requests_per_minute: z.int().min(1),
    burst: z.int().min(1).describe("As many requests at once at most."),
    remaining: count().describe("Whole requests left at this moment."),
  }),
  spent_cents: cents().describe("In `month`, rounded down."),
  hard_cap_cents: capCents().describe("Null: none."),
  budget_cents: capCents().describe("Alerts only; null: none."),
  remaining_cents: capCents().describe(
    "The cap without what is spent; null without a cap, 0 when overspent.",
  ),
  headroom_cents: capCents().describe(
    "The smaller `remaining_cents` of key and organization; null without any cap.",
  ),
  blocked_by: z.enum(["key", "organization"]).nullable().describe("Whose cap is reached; null: none."),
  allowed_models: z.array(z.string()).nullable().describe("Null: all."),
  expires_at: time().nullable().describe("Null: never."),
});
export type KeyStatus = z.output<typeof keyStatus>;

/** Of one charged request. */
const costDetails = z.strictObject({
  service_tier: z.string().describe("At which it was charged."),
  above_prompt_tokens: z.int().nullable().describe("Of the size of prompt; null: the smallest."),
  price_from: z.string().nullable().describe("UTC day; null: from the beginning."),
  parts: z.array(
    z.strictObject({
      name: z.string(),
      tokens: z.int().nullable().describe("Null: the fee of the request, or a server tool."),
      uses: z.int().optional().describe("Of a tool that ran at the model's server; left out of all others."),
      price: z.string().describe("Per million tokens, or per thousand uses, a decimal."),
      cost: z.string().describe("An exact decimal of the currency."),
    }),
  ),
});

/** `GET /v1/requests/{request_id}`; the management API tells the same, and more. */
export const requestStatus = z.strictObject({
  object: z.literal("request"),
  id: z.string().meta({ examples: ["req_01934f6e-7d3a-7c1e-9a40-5f0c2b8d6e11"] }),
  created_at: time().meta({ description: "When it came.", examples: ["2026-12-01T00:00:00.000Z"] }),
  model: z.string().nullable(),
  requested_model: z
    .string()
    .nullable()
    .meta({
      description: "What the client wrote as its model, where that is no id but a name for one, or for none.",
      examples: ["gpt-4o-mini"],
    }),
  route: z.string().meta({ examples: ["POST /v1/chat/completions"] }),
  tags: z.record(z.string(), z.string()).meta({
    description: "Whose cost it is: from `X-Tags`, the key's defaults and the end user, where that is kept.",
    examples: [{ team: "search" }],
  }),
  status: z.int().nullable().describe("Null: its worker died and another has closed its record."),
  error_code: z.string().nullable(),
  input_tokens: count().describe("Without the cached ones."),
  cached_input_tokens: count(),
  output_tokens: count(),
  estimated: z.boolean(),
  cost_microcents: z.int(),
  cost_cents: z.int(),
  cost_details: costDetails.nullable().describe("Null: it cost nothing, or nobody knows at which prices."),
  checks: z
    .array(
      z.strictObject({
        name: z.string(),
        passed: z.boolean(),
        figures: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
      }),
    )
    .describe(
      "What decided it, with the figures: each check up to the one that it failed at its headers, the one that it failed later, or of a request that went upstream its price.",
    ),
});
export type RequestStatus = z.output<typeof requestStatus>;
