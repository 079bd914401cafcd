/** Error reference: an entry for each code, with its text for the documentation and the dashboard. */
import {
  CAP_CODES,
  ERRORS,
  type ErrorCode,
  GatewayError,
  type OwnCode,
} from "../../shared/contract/errors.ts";
import { ADMIN_ERRORS, AdminError, type AdminErrorCode, adminEntryOf } from "./admin-error.ts";

export interface ErrorEntry {
  /** Fragment of its `doc_url`. */
  readonly id: string;
  readonly code: string;
  /** "503 / 529": the second is for the messages routes. */
  readonly status: string;
  readonly type: string;
  /** Description of the error. */
  readonly meaning: string;
  /** Possible action in addition to retrying, or whom to ask. */
  readonly remedy: string;
  readonly retry: Retry;
}

/**
 * Whether the same request can succeed: `yes`, after the time in `Retry-After`; `later`, after the remedy or
 * the end of a period; or `no`.
 */
type Retry = "yes" | "later" | "no";

type Code = OwnCode | AdminErrorCode;

/** Returns the same for each code of a reached cap. */
function ofCaps<Same>(same: Same): Readonly<Record<string, Same>> {
  return Object.fromEntries(Object.values(CAP_CODES).map((code) => [code, same]));
}

const REQUEST_HIGHER_LIMIT = "or ask an admin of your organization for a higher limit.";
const NAMED_FIELD = "Correct the field in `param`.";
const PERSISTS = "If it persists, contact the operator.";

/** Remedies for readers of the reference, whose rights may differ from those of the message's reader. */
const REMEDIES: Readonly<Partial<Record<Code, string>>> = {
  invalid_json: "Correct the body; the message names the fault.",
  missing_required_parameter: NAMED_FIELD,
  invalid_parameter: NAMED_FIELD,
  unsupported_parameter: "Leave out the field in `param`.",
  endpoint_not_available_for_model: "`GET /v1/models` lists its `supported_endpoints`.",
  invalid_api_key: "Copy all of it, from `sk-igw-` on, or ask an admin for another key.",
  ...ofCaps("Ask an admin of your organization to raise the cap."),
  session_cap_reached: "End this run, or ask an admin of your organization to raise the session cap.",
  key_disabled: "Ask an admin to enable it, or use another key.",
  key_expired: "Ask an admin to extend it, or use another key.",
  request_not_found: "Check the ID, and that it belongs to this API key or organization.",
  rate_limit_exceeded: `Send fewer requests, ${REQUEST_HIGHER_LIMIT}`,
  token_rate_limit_exceeded: `Send fewer tokens, ${REQUEST_HIGHER_LIMIT}`,
  guardrail_blocked: "Change the content. The operator knows the guardrail's rules.",
  redis_full: "Ask the operator to give Redis more memory.",
  upstream_error: "If it persists, send the request ID to the operator.",
  model_starting: PERSISTS,
  model_unreachable: PERSISTS,
  model_overloaded: "Send fewer requests, or use another model.",
  gateway_overloaded: PERSISTS,
  gateway_unavailable: PERSISTS,
  upstream_timeout: "Ask for a shorter response.",
  organization_not_found: "`GET /api/organizations` lists the ones that your token can see.",
  key_not_found: "`GET …/keys` lists all.",
  user_not_found: "`GET …/users` lists all.",
  group_not_found: "`GET …/groups` lists all.",
  token_not_found: "`GET …/tokens` lists all.",
  session_not_found: "`GET …/sessions` lists all.",
  raise_not_found: "`raises` of its owner lists all.",
  alert_not_found: "`GET …/alerts` lists all.",
  webhook_not_found: "`notifications.webhooks` of `GET …` lists all.",
  change_conflict: "Send the change again.",
  too_many_wrong_tokens: "Correct the token first.",
  too_many_reports: "Wait for your other reports.",
  too_many_new_keys: "Use the keys that you have.",
  too_many_webhook_tests: "Wait a minute.",
  too_many_emails: "Ask the operator to raise `notifications.emails.max_per_hour`.",
};

const RETRIES: Readonly<Partial<Record<Code, Retry>>> = {
  ...ofCaps("later" as const),
  session_cap_reached: "later",
  key_disabled: "later",
  key_expired: "later",
  user_disabled: "later",
  organization_suspended: "later",
  identity_not_allowed: "later",
  upstream_authentication_failed: "later",
  upstream_model_not_found: "later",
  organization_full: "later",
  too_many_raises: "later",
  webhook_not_set: "later",
  email_not_set: "later",
  redis_full: "later",
  request_timeout: "yes",
  change_conflict: "yes",
};

/** Omitted from the message, because the column for retries shows it. */
const RETRY_ADVICE = /^Try again(?: after the time in `Retry-After`| in a moment)?\.$/;

/** Code that only model servers cause. */
const CONTEXT_LENGTH_EXCEEDED = new GatewayError("invalid_parameter", {
  publicCode: "context_length_exceeded",
  message:
    "The prompt and the response don't fit into the model's context window. Shorten the conversation, or ask for a shorter response.",
});

/** Lists codes of the client API. */
export function listApiErrors(): readonly ErrorEntry[] {
  const codes = Object.keys(ERRORS) as ErrorCode[];
  return [...codes.map((code) => new GatewayError(code)), CONTEXT_LENGTH_EXCEEDED].map((error) => {
    const [status, onMessages] = [error.status("chat"), error.status("messages")];
    const statuses = status === onMessages ? String(status) : `${status} / ${onMessages}`;
    return { id: error.ownCode, status: statuses, ...describe(error.ownCode, status, error) };
  });
}

/** Lists codes of the management API. */
export function listManagementErrors(): readonly ErrorEntry[] {
  return (Object.keys(ADMIN_ERRORS) as AdminErrorCode[]).map((code) => {
    const error = new AdminError(code);
    return { id: adminEntryOf(code), status: String(error.status), ...describe(code, error.status, error) };
  });
}

function describe(
  code: Code,
  status: number,
  { type, message }: { readonly type: string; readonly message: string },
): Omit<ErrorEntry, "id" | "status"> {
  const [meaning = "", ...advice] = message.split(/(?<=\.) (?=[A-Z`])/);
  const canRetry = status === 429 || status >= 500;
  return {
    code,
    type,
    meaning,
    remedy: REMEDIES[code] ?? advice.filter((sentence) => !RETRY_ADVICE.test(sentence)).join(" "),
    retry: RETRIES[code] ?? (canRetry ? "yes" : "no"),
  };
}
