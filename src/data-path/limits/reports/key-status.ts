/** `GET /v1/key`: limits, spend and headroom of the client's own key, and what blocks it. */
import * as z from "zod";
import { isReached, wholeCents } from "../../../shared/money/money.ts";
import type { KeyRecord, OrganizationRecord } from "../../../shared/stored/management.ts";
import type { LimitReading, LimitStatus, SpendFigures } from "../../../shared/stored/reporting.ts";
import { dayAt, formatResetsAt, formatTimeOrNull } from "../../../shared/time/calendar.ts";
import { formatWindowEnd } from "../../../shared/time/periods.ts";
import { centsOf, LIMIT_KINDS, LIMIT_PERIODS } from "../../../shared/settings/limits.ts";
import type { AdmittedOwner } from "../../../shared/stored/admission.ts";
import { LIMIT_SCOPES, type LimitScope } from "../../../shared/stored/decision.ts";
import { TOKEN_LIMIT_ROWS, TOKEN_LIMIT_TYPES } from "../../../shared/settings/token-limits.ts";

const cents = () => z.int();
const capCents = () => z.int().nullable();
const owner = () => z.strictObject({ id: z.string(), name: z.string() }).nullable();

/** Schema of `GET /v1/key`. */
export const keyStatus = z.strictObject({
  object: z.literal("key"),
  id: z.string().meta({ examples: ["key_01934f6e-7d3a-7c1e-9a40-5f0c2b8d6e11"] }),
  name: z.string(),
  display: z
    .string()
    .meta({ description: "Text that identifies the API key to people.", examples: ["sk-igw-…a1B2"] }),
  organization: z.strictObject({
    id: z.string(),
    name: z.string(),
    spent_cents: cents()
      .nullable()
      .describe("Spend of all its keys in `month`; null, as its other amounts: hidden."),
    hard_cap_cents: capCents().describe("Amount in force, temporary increases included; null: none."),
    budget_cents: capCents().describe("Alerts only; null: none."),
    remaining_cents: capCents().describe("Cap minus spend, at least 0; null: no cap."),
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
    burst: z.int().min(1).describe("Maximum of requests at once."),
    remaining: z.int().min(0).describe("Whole requests left now."),
  }),
  spent_cents: cents().describe("Spent in `month`, rounded down."),
  hard_cap_cents: capCents().describe("Amount in force, temporary increases included; null: none."),
  budget_cents: capCents().describe("Alerts only; null: none."),
  remaining_cents: capCents().describe("Cap minus spend, at least 0; null: no cap."),
  headroom_cents: capCents().describe("Smallest amount that any cap leaves; null: no cap."),
  blocked_by: z.enum(LIMIT_SCOPES).nullable().describe("Scope of a reached cap; null: none."),
  user: owner().describe("User of the API key; null: none."),
  group: owner().describe("Group of its requests; null: none."),
  limits: z
    .array(
      z.strictObject({
        scope: z.enum(LIMIT_SCOPES),
        period: z.enum(LIMIT_PERIODS),
        kind: z.enum(LIMIT_KINDS),
        cents: capCents().describe(
          "Amount in force, temporary increases included; null, as its other amounts: hidden.",
        ),
        raised_cents: capCents().describe("Part of it that is a temporary increase."),
        spent_cents: capCents().describe("Spent in the current window, rounded down."),
        remaining_cents: capCents(),
        resets_at: z.iso.datetime().nullable().describe("End of the window; null: never."),
      }),
    )
    .describe("Every cap and budget of the key's requests."),
  token_limits: z
    .array(
      z.strictObject({
        scope: z.enum(LIMIT_SCOPES),
        type: z.enum(TOKEN_LIMIT_TYPES).describe("`total`: input and output together."),
        tokens_per_minute: z.int().min(1),
      }),
    )
    .describe("Every limit of tokens per minute that the key's requests meet."),
  allowed_models: z.array(z.string()).nullable().describe("Null: all."),
  expires_at: z.iso.datetime().nullable().describe("Null: never."),
});
export type KeyStatus = z.output<typeof keyStatus>;

export interface KeyStatusInput {
  readonly key: KeyRecord;
  readonly organization: OrganizationRecord;
  readonly spend: SpendFigures;
  /** Limits of all scopes that apply to the key's requests. */
  readonly limits: LimitReading;
  readonly user: (AdmittedOwner & TokenLimits) | null;
  readonly group: (AdmittedOwner & TokenLimits) | null;
  /** Whole requests left in the bucket. */
  readonly remainingRequests: number;
  /** The bucket's capacity. */
  readonly burst: number;
}

/** Formats the published body; see docs/api.md. */
export function formatKeyStatus(input: KeyStatusInput): KeyStatus {
  const { key, organization, spend, limits, user, group, remainingRequests, burst } = input;
  const keySpent = spend.keyMicrocents.get(key.id) ?? 0n;
  const isVisible = ({ scope }: LimitStatus) => scope === "key" || !organization.hideAmounts;
  return {
    object: "key",
    id: key.id,
    name: key.name,
    display: key.display,
    organization: {
      id: organization.id,
      name: organization.name,
      ...(organization.hideAmounts
        ? NO_AMOUNTS
        : formatMonth("organization", spend.organizationMicrocents, limits)),
    },
    currency: organization.currency,
    month: spend.month,
    resets_at: formatResetsAt(spend.month),
    rate_limit: { requests_per_minute: key.requestsPerMinute, burst, remaining: remainingRequests },
    ...formatMonth("key", keySpent, limits),
    headroom_cents: headroomOf(limits.limits.filter(isVisible)),
    blocked_by: limits.limits.find(isReachedCap)?.scope ?? null,
    allowed_models: key.allowedModels === null ? null : [...key.allowedModels],
    expires_at: formatTimeOrNull(key.expiresAtMs),
    user: user === null ? null : { id: user.id, name: user.name },
    group: group === null ? null : { id: group.id, name: group.name },
    limits: limits.limits.map((limit) => {
      const shown = formatLimit(limit, limits.timeMs);
      return isVisible(limit) ? shown : { ...shown, ...NO_AMOUNTS_OF_LIMIT };
    }),
    token_limits: [
      ...formatTokenLimits("key", key),
      ...formatTokenLimits("user", user),
      ...formatTokenLimits("group", group),
      ...formatTokenLimits("organization", organization),
    ],
  };
}

/** Token limits of a key, user, group or organization. */
type TokenLimits = { readonly [Row in keyof typeof TOKEN_LIMIT_ROWS]: number | null };

const TOKEN_ROWS = Object.keys(TOKEN_LIMIT_ROWS) as readonly (keyof typeof TOKEN_LIMIT_ROWS)[];

/** Formats the token limits of an owner, in the order of TOKEN_LIMIT_TYPES. */
function formatTokenLimits(scope: LimitScope, owner: TokenLimits | null): KeyStatus["token_limits"] {
  return TOKEN_LIMIT_TYPES.flatMap((type, position) => {
    const perMinute = owner?.[TOKEN_ROWS[position] ?? "tokensPerMinute"] ?? null;
    return perMinute === null ? [] : [{ scope, type, tokens_per_minute: perMinute }];
  });
}

const NO_AMOUNTS = { spent_cents: null, hard_cap_cents: null, budget_cents: null, remaining_cents: null };
/** Amounts of a limit that the organization hides from clients. */
export const NO_AMOUNTS_OF_LIMIT = {
  cents: null,
  raised_cents: null,
  spent_cents: null,
  remaining_cents: null,
};

/** Formats the published monthly fields of an owner. */
function formatMonth(scope: LimitScope, spentMicrocents: bigint, { limits }: LimitReading) {
  const own = limits.filter((limit) => limit.scope === scope);
  const cap = centsOf(own, { period: "month", kind: "cap" });
  return {
    spent_cents: wholeCents(spentMicrocents),
    hard_cap_cents: cap,
    budget_cents: centsOf(own, { period: "month", kind: "budget" }),
    remaining_cents: remainingCents(cap, spentMicrocents),
  };
}

/** Formats a limit with its remaining amount, for clients and the management API. */
export function formatLimit(limit: LimitStatus, timeMs: number) {
  const { scope, period, kind, cents: inForce, raisedCents, spentMicrocents } = limit;
  const spent = wholeCents(spentMicrocents);
  return {
    scope,
    period,
    kind,
    cents: inForce,
    raised_cents: raisedCents,
    spent_cents: spent,
    remaining_cents: Math.max(0, inForce - spent),
    resets_at: formatWindowEnd(period, dayAt(timeMs).name),
  };
}

function headroomOf(limits: readonly LimitStatus[]): number | null {
  const caps = limits.filter(({ kind }) => kind === "cap");
  if (caps.length === 0) return null;
  return Math.min(
    ...caps.map(({ cents: inForce, spentMicrocents }) => Math.max(0, inForce - wholeCents(spentMicrocents))),
  );
}

/** Returns whether a cap is reached, so that it rejects requests that cost money. */
export function isReachedCap({ kind, cents: inForce, spentMicrocents }: LimitStatus): boolean {
  return kind === "cap" && isReached(inForce, spentMicrocents);
}

/** Returns what is left of a cap at the displayed spend, in whole cents; 0 if overspent, null without a cap. */
function remainingCents(capCents: number | null, spentMicrocents: bigint): number | null {
  return capCents === null ? null : Math.max(0, capCents - wholeCents(spentMicrocents));
}
