/** Possible decisions of an admission. */
export const ADMISSION_DECISIONS = [
  "admitted",
  "unknown_key",
  "key_disabled",
  "key_expired",
  "user_disabled",
  "organization_suspended",
  "rate_limited",
  "token_rate_limited",
  "concurrency_limited",
  "key_cap_reached",
  "user_cap_reached",
  "group_cap_reached",
  "organization_cap_reached",
] as const;

/** Scopes of limits, narrowest first. */
export const LIMIT_SCOPES = ["key", "user", "group", "organization"] as const;
export type LimitScope = (typeof LIMIT_SCOPES)[number];

/** Decision of an admission, in the order of the checks: the first check that fails is named. */
export type AdmissionDecision = (typeof ADMISSION_DECISIONS)[number];
