/** `GET /v1/key`: what a client may know of its own key: limits, spend, headroom, and what blocks it. */
import { MICROCENTS_PER_CENT, wholeCents } from "../money.ts";
import type { KeyRecord, OrganizationRecord } from "../store/types/management.ts";
import type { SpendFigures } from "../store/types/reporting.ts";
import { formatResetsAt, formatTimeOrNull } from "../calendar.ts";
import type { KeyStatus } from "./answer-schemas.ts";

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
