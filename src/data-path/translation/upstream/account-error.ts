/**
 * Recognizes errors about the gateway's own account at an upstream (its credential or balance). Some upstreams report
 * them as errors of the request, but clients cannot fix them and must not see them.
 */
import type { UpstreamErrorText } from "./error-text.ts";

/** Values of `error.type` or `error.code`: Anthropic, OpenAI, AWS. */
const ACCOUNT_NAMES: ReadonlySet<string> = new Set([
  "authentication_error",
  "billing_error",
  "permission_error",
  "account_deactivated",
  "billing_hard_limit_reached",
  "billing_not_active",
  "insufficient_quota",
  "exceeded_current_quota_error",
  "insufficient_balance",
  "insufficient_credits",
  "arrearage",
  "invalid_api_key",
  "expiredtokenexception",
  "invalidsignatureexception",
  "unrecognizedclientexception",
]);

/** Phrases of Anthropic, OpenAI, Google, xAI and AWS in errors without such a name. */
const ACCOUNT_WORDS = [
  /credit balance is too low/i,
  /\binsufficient (?:account )?(?:balance|credits?|funds|quota)\b/i,
  /exceeded your current quota/i,
  /\brequires? more credits\b/i,
  /billing hard limit|plans? (?:&|and) billing/i,
  /\b(?:specified|monthly) api usage limits?\b/i,
  /\b(?:incorrect|invalid|expired|missing) (?:x-)?api[ -]key\b/i,
  /\bapi[ -]key (?:is )?(?:not valid|not found|invalid|expired|missing)\b/i,
  /\b(?:organization|account) (?:has been|is) (?:deactivated|disabled|not active|suspended)\b/i,
  /\bbilling account\b[^.]{0,60}\bdisabled\b|\bcredits? (?:is|are|has been|have been) exhausted\b|\barrearage\b|good standing/i,
  /余额不足|欠费/,
  /\bsecurity token included in the request\b|\brequest signature we calculated\b/i,
];

/** Text after this may be the request's own, which some servers repeat. */
const READ_CHARACTERS = 300;

/** Returns whether an error is about the gateway's own account, whatever its status. */
export function isAccountError({ message, code, type }: UpstreamErrorText): boolean {
  const isNamed = [type, code].some((name) => name !== null && ACCOUNT_NAMES.has(name.toLowerCase()));
  if (isNamed) return true;
  const words = message?.slice(0, READ_CHARACTERS) ?? "";
  return ACCOUNT_WORDS.some((form) => form.test(words));
}
