import { GUARDRAIL_DETAILS } from "../contract/guardrail.ts";
import { reason, type Reason } from "./reason.ts";
import { explainDetails } from "./response-details.ts";
import { FLAGS } from "./response-flags.ts";

const GUARDRAIL = reason(
  "gateway",
  "a guardrail in Envoy blocked the response",
  "client",
  "Change the request. The operator knows the guardrail's rules.",
);

/**
 * Explains why a request failed at its upstream; null if unknown.
 * @param status Status of the upstream's response; null: none.
 * @param cause In Envoy's words, the upstream's or the gateway's.
 */
export function explainCause(status: number | null, cause: string): Reason | null {
  // Envoy does not say which side was silent; a complete request without a response waits for its upstream.
  if (status === null && cause.startsWith("stream_idle_timeout")) return FLAGS.UT;
  return cause.startsWith(GUARDRAIL_DETAILS) ? GUARDRAIL : explainDetails(cause);
}
