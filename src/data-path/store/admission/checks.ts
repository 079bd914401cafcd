/** The checks of an admission with their figures, for whoever asks why a request was refused or what it met. */
import { formatTimeOrNull } from "../../../shared/time/calendar.ts";
import type { AdmissionDecision } from "../types/decision.ts";
import type { Check } from "../types/reporting.ts";
import type { TokenLimit } from "../types/token-rate.ts";

/** The figures that an admission was decided by. */
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
  /** The limit of tokens that refused. */
  readonly tokenLimit: TokenLimit | null;
  /** The cap that refused, where it is none of the month's of key and organization. */
  readonly reached: {
    readonly period: string;
    readonly capCents: number;
    readonly spentMicrocents: bigint;
  } | null;
}

/** The checks in their order, up to and with the one that failed. */
export function describeChecks(figures: AdmissionFigures): readonly Check[] {
  const { currency, reached } = figures;
  const expires_at = formatTimeOrNull(figures.expiresAtMs);
  const inOrder: readonly NamedCheck[] = [
    ["key_disabled", "key_enabled", {}],
    ["key_expired", "key_not_expired", { expires_at }],
    // Few keys have a user.
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
        retry_after_seconds: figures.retryAfterSeconds,
      },
    ],
    // Few keys have limits of tokens.
    ...(figures.tokenLimit === null ? [] : [describeTokenLimit(figures.tokenLimit, figures)]),
    [
      "concurrency_limited",
      "concurrency",
      {
        concurrent_requests: figures.concurrentRequests,
        max_concurrent_requests: figures.maxConcurrentRequests,
      },
    ],
    // One that is reached is named, of several the one that resets last: which others are is not told.
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

/** "week": "user_hard_cap", with its period among the figures. */
function capOf(
  decision: AdmissionDecision,
  { period, capCents, spentMicrocents }: NonNullable<AdmissionFigures["reached"]>,
  currency: string,
): NamedCheck {
  const name = decision.replace(/_cap_reached$/, "_hard_cap");
  return [decision, name, { ...cap(spentMicrocents, capCents, currency), period }];
}

/** Microcents as text: JSON's numbers are doubles for most readers. */
function cap(spentMicrocents: bigint, capCents: number | null, currency: string): Check["figures"] {
  return { spent_microcents: String(spentMicrocents), hard_cap_cents: capCents, currency };
}
