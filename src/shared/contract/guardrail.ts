/** Prefix of the details if a guardrail in Envoy's chain ended a request. The guardrail's reason follows. */
export const GUARDRAIL_DETAILS = "guardrail: ";
