import type { Reason } from "./reason.ts";
import { explainDetails } from "./response-details.ts";
import { FLAGS } from "./response-flags.ts";

/**
 * Why a request failed at its upstream; null: Envoy did not say it, or nothing that is known.
 * @param status What the upstream answered; null: it never did.
 * @param cause In Envoy's words, the upstream's or the gateway's.
 */
export function explainCause(status: number | null, cause: string): Reason | null {
  // Envoy does not say who fell silent; what was handed over whole and has no answer waits for its upstream.
  if (status === null && cause.startsWith("stream_idle_timeout")) return FLAGS.UT;
  return explainDetails(cause);
}
