import { z } from "zod";
import { amountOrNull, flag, month, name, named, record, timestamp, whole, wholeOrNull } from "./fields.ts";
import { MAX_REQUESTS_PER_MINUTE } from "./organization.ts";
import { pageOf } from "./page.ts";

const MAX_CONCURRENT_REQUESTS = 100_000;
const MAX_ALLOWED_MODELS = 200;
/** 30 days. */
export const MAX_GRACE_SECONDS = 2_592_000;

const MODELS_EXPECTATION = `expected a list of 1 to ${MAX_ALLOWED_MODELS} catalog ids, none twice, or null for all`;
const allowedModels = z
  .array(z.string({ error: "expected a catalog id such as acme/echo-small" }), { error: MODELS_EXPECTATION })
  .min(1, { error: MODELS_EXPECTATION })
  .max(MAX_ALLOWED_MODELS, { error: MODELS_EXPECTATION })
  .refine((ids) => new Set(ids).size === ids.length, { error: MODELS_EXPECTATION })
  .nullable()
  .meta({ description: "Catalog ids that the key may use; null: all." });

const EXPIRY_EXPECTATION =
  "expected an RFC 3339 time in the future such as 2026-12-31T23:59:59Z, or null for none";
const expiresAt = z.iso
  .datetime({ offset: true, error: EXPIRY_EXPECTATION })
  .nullable()
  .meta({ description: "From then on the key is refused; null: never.", examples: ["2026-12-31T23:59:59Z"] });

const settings = {
  requests_per_minute: whole(1, MAX_REQUESTS_PER_MINUTE).optional().meta({
    description: "Rate limit. For a new key: the organization's default, else 600, when left out.",
  }),
  hard_cap_cents: amountOrNull("Monthly hard cap, whole cents; null: none.").optional(),
  budget_cents: amountOrNull("Monthly budget, whole cents; it never refuses anything.").optional(),
  allowed_models: allowedModels.optional(),
  max_concurrent_requests: wholeOrNull(1, MAX_CONCURRENT_REQUESTS)
    .meta({ description: "Requests in flight at most; null: no limit." })
    .optional(),
  expires_at: expiresAt.optional(),
  disabled: flag("The key is refused until it is enabled again.").optional(),
};

export const keyCreation = named("KeyCreation", record({ name: name(), ...settings }));
export type KeyCreation = z.output<typeof keyCreation>;

export const keyChange = named("KeyChange", record({ name: name().optional(), ...settings }));
export type KeyChange = z.output<typeof keyChange>;

export const keyRotation = named(
  "KeyRotation",
  record({
    grace_seconds: whole(0, MAX_GRACE_SECONDS, "seconds")
      .optional()
      .meta({ description: "How long the key before still works; 0, not at all, when left out." }),
  }),
);

const keyFields = {
  id: z.string().meta({ examples: ["key_01934f6e-7d3a-7c1e-9a40-5f0c2b8d6e11"] }),
  organization_id: z.string(),
  name: z.string(),
  display: z.string().meta({ description: "What people recognise the key by.", examples: ["sk-igw-…a1B2"] }),
  requests_per_minute: z.int(),
  hard_cap_cents: z.int().nullable(),
  budget_cents: z.int().nullable(),
  allowed_models: z.array(z.string()).nullable(),
  max_concurrent_requests: z.int().nullable(),
  expires_at: timestamp().nullable(),
  disabled: z.boolean(),
  former_key_until: timestamp()
    .nullable()
    .meta({ description: "Until then the key before the last rotation works too; null: it does not." }),
  created_at: timestamp(),
  month: month(),
  spent_cents: z.int().meta({ description: "Spent in `month`, whole cents, rounded down." }),
  spent_microcents: z.int().meta({ description: "The same in millionths of a cent." }),
  bucket: z
    .strictObject({ remaining: z.int(), capacity: z.int() })
    .meta({ description: "Whole requests that the rate limit lets pass at once now, and when it is full." }),
};

export const key = named("Key", z.strictObject(keyFields));
export const keyWithSecret = named(
  "KeyWithSecret",
  z.strictObject({
    ...keyFields,
    key: z.string().meta({ description: "The API key itself. It is never shown again." }),
  }),
);
export const keyPage = pageOf("KeyPage", key);
export const revocation = named(
  "Revocation",
  z.strictObject({
    revoked: z.int(),
    data: z.array(z.strictObject({ id: z.string(), name: z.string(), display: z.string() })),
  }),
);
