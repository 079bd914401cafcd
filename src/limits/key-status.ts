/** `GET /v1/key`: what a client may know of its own key: limits, spend, headroom, and what blocks it. */
import * as z from "zod";
import { MICROCENTS_PER_CENT, wholeCents } from "../money.ts";
import type { KeyRecord, OrganizationRecord } from "../store/types/management.ts";
import type { SpendFigures } from "../store/types/reporting.ts";
import { formatResetsAt, formatTimeOrNull } from "../calendar.ts";

const cents = () => z.int();
const capCents = () => z.int().nullable();

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
  resets_at: z.iso
    .datetime()
    .meta({ description: "When the next month begins.", examples: ["2026-12-01T00:00:00Z"] }),
  rate_limit: z.strictObject({
    requests_per_minute: z.int().min(1),
    burst: z.int().min(1).describe("As many requests at once at most."),
    remaining: z.int().min(0).describe("Whole requests left at this moment."),
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
  expires_at: z.iso.datetime().nullable().describe("Null: never."),
});
export type KeyStatus = z.output<typeof keyStatus>;

const CENT = BigInt(MICROCENTS_PER_CENT);

export interface KeyStatusInput {
  readonly key: KeyRecord;
  readonly organization: OrganizationRecord;
  readonly spend: SpendFigures;
  /** Whole requests left in the bucket. */
  readonly remainingRequests: number;
  /** The bucket's capacity. */
  readonly burst: number;
}

/** The published body; see docs/api.md. */
export function formatKeyStatus(input: KeyStatusInput): KeyStatus {
  const { key, organization, spend, remainingRequests, burst } = input;
  const keySpent = spend.keyMicrocents.get(key.id) ?? 0n;
  const keyRemaining = remainingCents(key.hardCapCents, keySpent);
  const organizationRemaining = remainingCents(organization.hardCapCents, spend.organizationMicrocents);
  return {
    object: "key",
    id: key.id,
    name: key.name,
    display: key.display,
    organization: {
      id: organization.id,
      name: organization.name,
      spent_cents: wholeCents(spend.organizationMicrocents),
      hard_cap_cents: organization.hardCapCents,
      budget_cents: organization.budgetCents,
      remaining_cents: organizationRemaining,
    },
    currency: organization.currency,
    month: spend.month,
    resets_at: formatResetsAt(spend.month),
    rate_limit: { requests_per_minute: key.requestsPerMinute, burst, remaining: remainingRequests },
    spent_cents: wholeCents(keySpent),
    hard_cap_cents: key.hardCapCents,
    budget_cents: key.budgetCents,
    remaining_cents: keyRemaining,
    headroom_cents: smaller(keyRemaining, organizationRemaining),
    blocked_by: blockedBy(input, keySpent),
    allowed_models: key.allowedModels === null ? null : [...key.allowedModels],
    expires_at: formatTimeOrNull(key.expiresAtMs),
  };
}

function blockedBy(input: KeyStatusInput, keySpent: bigint): KeyStatus["blocked_by"] {
  if (isReached(input.key.hardCapCents, keySpent)) return "key";
  if (isReached(input.organization.hardCapCents, input.spend.organizationMicrocents)) return "organization";
  return null;
}

function isReached(capCents: number | null, spentMicrocents: bigint): boolean {
  return capCents !== null && spentMicrocents >= BigInt(capCents) * CENT;
}

/** What is left of a cap beside what is told as spent, in whole cents; 0 when overspent, null without a cap. */
function remainingCents(capCents: number | null, spentMicrocents: bigint): number | null {
  return capCents === null ? null : Math.max(0, capCents - wholeCents(spentMicrocents));
}

function smaller(first: number | null, second: number | null): number | null {
  if (first === null) return second;
  return second === null ? first : Math.min(first, second);
}
