import { CAP_CODES, type GatewayError } from "../../shared/contract/errors.ts";
import type { Shrunk } from "../limits/errors/spend-cap.ts";
import { scrub } from "../../shared/text/scrub.ts";
import { SHRUNK_CHECK } from "../limits/reports/request-status.ts";
import type { Check } from "../../shared/stored/reporting.ts";

/** Name of the failed check of an admitted request, by error code; all other errors concern its body. */
const NAMES: Readonly<Record<string, string>> = {
  concurrency_limit_exceeded: "concurrency",
  session_cap_reached: "session_cap",
  ...Object.fromEntries(Object.entries(CAP_CODES).map(([scope, code]) => [code, `${scope}_hard_cap`])),
  model_not_found: "model",
  model_not_allowed: "model",
  model_not_available_in_currency: "model",
  request_too_large: "size",
  buffer_limit_exceeded: "size",
  gateway_overloaded: "size",
  guardrail_blocked: "guardrail",
};

/**
 * Describes the check that rejected an admitted request before it went upstream, with its figures, for later
 * look-ups.
 */
export function describeRefusal(error: GatewayError): readonly Check[] {
  const { fields } = error;
  // The text may contain input of the client, such as a key in place of a model name, and others may read it.
  const message = scrub(error.message);
  const param = error.param === null ? null : scrub(error.param);
  const figures = param === null ? { ...fields, message } : { ...fields, param, message };
  return [{ name: NAMES[error.code] ?? "body", passed: false, figures }];
}

/**
 * Describes how caps changed a request that went upstream. `limits/reports/request-status.ts` hides it from clients
 * depending on its scope.
 */
export function checkShrunk({ requestedTokens, maxTokens, scope, period }: Shrunk): Check {
  const figures = { requested_max_tokens: requestedTokens, max_tokens: maxTokens, scope, period };
  return { name: SHRUNK_CHECK, passed: true, figures };
}
