import { CAP_CHECKS, failedCheckOf, type GatewayError } from "../../shared/contract/errors.ts";
import type { Shrunk } from "../limits/errors/spend-cap.ts";
import { scrub } from "../../shared/text/scrub.ts";
import { SHRUNK_CHECK } from "../limits/reports/request-status.ts";
import type { Check } from "../../shared/stored/reporting.ts";

/** Failed checks with another name in records. */
const NAMES: ReadonlyMap<string, string> = new Map([
  ["buffers", "size"],
  ...CAP_CHECKS.map((check) => [check, check.replace("_cap", "_hard_cap")] as const),
]);

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
  const check = failedCheckOf(error.code);
  return [{ name: NAMES.get(check) ?? check, passed: false, figures }];
}

/**
 * Describes how caps changed a request that went upstream. `limits/reports/request-status.ts` hides it from clients
 * depending on its scope.
 */
export function checkShrunk({ requestedTokens, maxTokens, scope, period }: Shrunk): Check {
  const figures = { requested_max_tokens: requestedTokens, max_tokens: maxTokens, scope, period };
  return { name: SHRUNK_CHECK, passed: true, figures };
}
