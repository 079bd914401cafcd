/** Response that the client of a recent request got, for all outcomes. */
import { CAP_CODES, type ErrorCode, GatewayError } from "../../../shared/contract/errors.ts";
import type { AdmissionDecision } from "../../../shared/stored/decision.ts";
import type { RecentRequest } from "../../../shared/stored/reporting.ts";

export interface ClientOutcome {
  /** HTTP status; null if the request's worker died and another closed its record. */
  readonly status: number | null;
  readonly errorCode: string | null;
}

/** Error codes of `createAdmissionError`. */
const CODES: Readonly<Record<Exclude<AdmissionDecision, "admitted">, ErrorCode>> = {
  unknown_key: "invalid_api_key",
  key_disabled: "key_disabled",
  key_expired: "key_expired",
  user_disabled: "user_disabled",
  organization_suspended: "organization_suspended",
  rate_limited: "rate_limit_exceeded",
  token_rate_limited: "token_rate_limit_exceeded",
  concurrency_limited: "concurrency_limit_exceeded",
  key_cap_reached: CAP_CODES.key,
  user_cap_reached: CAP_CODES.user,
  group_cap_reached: CAP_CODES.group,
  organization_cap_reached: CAP_CODES.organization,
};

export function clientOutcomeOf({
  refusal,
  status,
  errorCode,
}: Pick<RecentRequest, "refusal" | keyof ClientOutcome>): ClientOutcome {
  if (refusal === null || refusal === "admitted") return { status, errorCode };
  const error = new GatewayError(CODES[refusal]);
  // The errors of admissions have the same status on every route.
  return { status: error.status("chat"), errorCode: error.publicCode };
}
