/** Checks of an admission with their figures: explains why a request was rejected or which limits it met. */
import { formatTimeOrNull } from "../../../shared/time/calendar.ts";
import type { AdmissionDecision } from "../../../shared/stored/decision.ts";
import type { Check } from "../../../shared/stored/reporting.ts";
import type { TokenLimit } from "../../../shared/stored/token-rate.ts";

/** Figures that decided an admission. */
export interface AdmissionFigures {
  readonly decision: AdmissionDecision;
  readonly bucket: "requests" | "count_tokens";
  readonly requestsPerMinute: number;
  readonly capacity: number;
  readonly remaining: number;
  readonly retryAfterSeconds: number;
  readonly expiresAtMs: number | null;
  readonly concurrentRequests: number | null;
  readonly maxConcurrentRequests: number | null;
  readonly currency: string;
  readonly keySpentMicrocents: bigint;
  readonly keyHardCapCents: number | null;
  readonly organizationSpentMicrocents: bigint;
  readonly organizationHardCapCents: number | null;
  readonly tokenLimit: TokenLimit | null;
  /** Cap that rejected the request, unless it is a monthly cap of the key or organization. */
  readonly reached: {
    readonly period: string;
    readonly capCents: number;
    readonly spentMicrocents: bigint;
  } | null;
}

/** Lists the checks in order, up to and including the one that failed. */
export function describeChecks(figures: AdmissionFigures): readonly Check[] {
  const { currency, reached } = figures;
  const expires_at = formatTimeOrNull(figures.expiresAtMs);
  const inOrder: readonly NamedCheck[] = [
    ["key_disabled", "key_enabled", {}],
    ["key_expired", "key_not_expired", { expires_at }],
    // Shown only if it failed, since few keys have a user.
    ...(figures.decision === "user_disabled" ? [["user_disabled", "user_enabled", {}] as const] : []),
    ["organization_suspended", "organization_active", {}],
    [
      "rate_limited",
      "rate_limit",
      {
        bucket: figures.bucket,
        requests_per_minute: figures.requestsPerMinute,
        burst: figures.capacity,
        remaining: figures.remaining,
        // The bucket's wait is a token limit's if that limit rejected the request.
        retry_after_seconds: figures.decision === "rate_limited" ? figures.retryAfterSeconds : 0,
      },
    ],
    // Shown only if the key has token limits.
    ...(figures.tokenLimit === null ? [] : [describeTokenLimit(figures.tokenLimit, figures)]),
    [
      "concurrency_limited",
      "concurrency",
      {
        concurrent_requests: figures.concurrentRequests,
        max_concurrent_requests: figures.maxConcurrentRequests,
      },
    ],
    // If several caps are reached, only the one that resets last is known.
    ...(reached === null ? capsOfMonth(figures) : [capOf(figures.decision, reached, currency)]),
  ];
  const failed = inOrder.findIndex(([decision]) => decision === figures.decision);
  const made = failed === -1 ? inOrder : inOrder.slice(0, failed + 1);
  return made.map(([decision, name, shown]) => ({
    name,
    passed: decision !== figures.decision,
    figures: shown,
  }));
}

function describeTokenLimit(
  { scope, type, limit }: TokenLimit,
  { retryAfterSeconds }: AdmissionFigures,
): NamedCheck {
  const figures = {
    scope,
    limit_type: type,
    tokens_per_minute: limit,
    retry_after_seconds: retryAfterSeconds,
  };
  return ["token_rate_limited", "token_rate_limit", figures];
}

type NamedCheck = readonly [AdmissionDecision, string, Check["figures"]];

function capsOfMonth(figures: AdmissionFigures): NamedCheck[] {
  const { currency } = figures;
  return [
    ["key_cap_reached", "key_hard_cap", cap(figures.keySpentMicrocents, figures.keyHardCapCents, currency)],
    [
      "organization_cap_reached",
      "organization_hard_cap",
      cap(figures.organizationSpentMicrocents, figures.organizationHardCapCents, currency),
    ],
  ];
}

/** Formats a cap as "week": "user_hard_cap", with its period among the figures. */
function capOf(
  decision: AdmissionDecision,
  { period, capCents, spentMicrocents }: NonNullable<AdmissionFigures["reached"]>,
  currency: string,
): NamedCheck {
  const name = decision.replace(/_cap_reached$/, "_hard_cap");
  return [decision, name, { ...cap(spentMicrocents, capCents, currency), period }];
}

/** Formats figures of a cap. Microcents are text, because most JSON readers parse numbers as doubles. */
function cap(spentMicrocents: bigint, capCents: number | null, currency: string): Check["figures"] {
  return { spent_microcents: String(spentMicrocents), hard_cap_cents: capCents, currency };
}
