/** Begin of the details of an end by a guardrail in Envoy's chain; the guardrail's reason follows. */
export const GUARDRAIL_DETAILS = "guardrail: ";
