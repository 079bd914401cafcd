/** Checks of an admission with their figures: explains why a request was rejected or which limits it met. */
import { formatTimeOrNull } from "../../../shared/time/calendar.ts";
import type { AdmittedCap } from "../../../shared/stored/admission.ts";
import { LIMIT_PERIODS } from "../../../shared/settings/limits.ts";
import { type AdmissionDecision, LIMIT_SCOPES } from "../../../shared/stored/decision.ts";
import type { Check } from "../../../shared/stored/reporting.ts";
import type { TokenLimit } from "../../../shared/stored/token-rate.ts";
import { amountAt, integerAt } from "../redis/parse-reply.ts";
import { AT, OUTCOME } from "../redis/reply-layouts.ts";

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
  /** Spend of the month, with or without a cap. */
  readonly keySpentMicrocents: bigint;
  readonly organizationSpentMicrocents: bigint;
  readonly tokenLimit: TokenLimit | null;
  readonly caps: readonly AdmittedCap[];
  readonly reachedCap: AdmittedCap | null;
}

/** Lists the checks in order, up to and including the one that failed. */
export function describeChecks(figures: AdmissionFigures): readonly Check[] {
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
    ...describeCaps(figures),
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

/** Describes monthly caps of key and organization together, and any other cap by itself. */
function describeCaps(figures: AdmissionFigures): NamedCheck[] {
  const { caps, reachedCap: reached, currency } = figures;
  const isOfMonth = ({ scope, period, raisedCents }: AdmittedCap): boolean =>
    period === "month" && raisedCents === 0 && (scope === "key" || scope === "organization");
  if (reached !== null && !caps.every(isOfMonth)) {
    const { scope, period, cents, spentMicrocents } = reached;
    const shown = { ...cap(spentMicrocents, cents, currency), period };
    return [[`${scope}_cap_reached`, `${scope}_hard_cap`, shown]];
  }
  const centsOf = (scope: string): number | null => caps.find((one) => one.scope === scope)?.cents ?? null;
  return [
    ["key_cap_reached", "key_hard_cap", cap(figures.keySpentMicrocents, centsOf("key"), currency)],
    [
      "organization_cap_reached",
      "organization_hard_cap",
      cap(figures.organizationSpentMicrocents, centsOf("organization"), currency),
    ],
  ];
}

/** Formats figures of a cap. Microcents are text, because most JSON readers parse numbers as doubles. */
function cap(spentMicrocents: bigint, capCents: number | null, currency: string): Check["figures"] {
  return { spent_microcents: String(spentMicrocents), hard_cap_cents: capCents, currency };
}

/** Parses one cap; its scope is in the position of an outcome. */
export function parseCap(cap: readonly unknown[]): AdmittedCap {
  const at = AT.admitCap;
  const scope = LIMIT_SCOPES.find((known) => known === cap[OUTCOME]);
  const period = LIMIT_PERIODS.find((known) => known === cap[at.period]);
  if (scope === undefined || period === undefined) {
    throw new TypeError("admit replied a cap that is not known");
  }
  return {
    scope,
    period,
    cents: integerAt(cap, at.cents),
    raisedCents: integerAt(cap, at.raisedCents),
    spentMicrocents: amountAt(cap, at.spent),
  };
}
