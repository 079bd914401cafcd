/** Table of the management API's errors: code → status, message. */
import { docUrlOf } from "../../shared/contract/error-reference.ts";
import { type ErrorType, errorTypeOf } from "../../shared/contract/errors.ts";

interface AdminErrorDefinition {
  readonly status: number;
  /** Default message for the caller. */
  readonly message: string;
  readonly retryAfterSeconds?: number;
}

export const ADMIN_ERRORS = {
  invalid_json: { status: 400, message: "The request body must be a JSON object in UTF-8." },
  missing_required_parameter: { status: 400, message: "A required field is missing." },
  invalid_parameter: { status: 400, message: "A field has an invalid value." },
  invalid_request: { status: 400, message: "The request isn't valid HTTP. Check its URL and headers." },
  invalid_token: {
    status: 401,
    message:
      "No management token sent. Send the operator's or an organization's token as `Authorization: Bearer <token>`; API keys aren't accepted.",
  },
  permission_denied: {
    status: 403,
    message: "This token isn't allowed to do this. Use the operator's token or one with the role admin.",
  },
  unknown_endpoint: {
    status: 404,
    message: "Unknown endpoint. `GET /api/openapi.json` describes the endpoints.",
  },
  organization_not_found: {
    status: 404,
    message: "Unknown organization, or this token belongs to another one.",
  },
  key_not_found: { status: 404, message: "Unknown API key in this organization." },
  user_not_found: { status: 404, message: "Unknown user in this organization." },
  group_not_found: { status: 404, message: "Unknown group in this organization." },
  token_not_found: { status: 404, message: "Unknown token in this organization." },
  session_not_found: { status: 404, message: "Unknown session, or it has ended." },
  raise_not_found: { status: 404, message: "Unknown temporary increase, or it was removed." },
  alert_not_found: { status: 404, message: "Unknown alert in this organization." },
  request_not_found: {
    status: 404,
    message: "Unknown request: only the recent requests of this organization can be read, about 10,000.",
  },
  method_not_allowed: {
    status: 405,
    message: "This endpoint doesn't accept this method. The `Allow` header lists the ones that it accepts.",
  },
  request_timeout: { status: 408, message: "The request body did not arrive in time. Send it again." },
  currency_locked: {
    status: 409,
    message:
      "The currency can't change once the organization has spend or a request in flight. Create another organization.",
  },
  organization_name_taken: {
    status: 409,
    message: "`name`: another organization has this name. Case and spaces don't make a name different.",
  },
  organization_full: {
    status: 409,
    message:
      "The organization has the maximum of keys, users, groups, tokens or webhooks. Delete some that it no longer needs.",
  },
  too_many_raises: {
    status: 409,
    message: "Four temporary increases are active, the maximum. Remove one, or wait until one has ended.",
  },
  idempotency_key_reused: {
    status: 409,
    message:
      "Another call used this `Idempotency-Key`; nothing was changed. Repeat that call unchanged, or send this one with a new key.",
  },
  webhook_not_set: {
    status: 409,
    message: "The organization has no webhook. Set `notifications.webhook.url` first.",
  },
  email_not_set: {
    status: 409,
    message: "The organization has no email address for alerts. Set `notifications.emails` first.",
  },
  webhook_not_found: { status: 404, message: "Unknown webhook in this organization." },
  key_without_secret: {
    status: 409,
    message:
      "This API key has no secret, because its users send tokens of an identity provider. Create another key.",
  },
  change_conflict: { status: 409, message: "Other calls are changing this at the same time. Try again." },
  version_conflict: {
    status: 412,
    message:
      "This has changed since you read it: `If-Match` names an older version. Read it again, then repeat the change.",
  },
  request_too_large: { status: 413, message: "The request body is larger than 1 MiB. Send a smaller one." },
  unsupported_media_type: {
    status: 415,
    message: "The request body isn't uncompressed JSON. Send JSON without a `content-encoding`.",
  },
  too_many_wrong_tokens: {
    status: 429,
    message: "Too many wrong tokens came from this address. Try again after the time in `Retry-After`.",
  },
  too_many_reports: {
    status: 429,
    message:
      "Reports of usage run one after another, and you have too many waiting. Try again after the time in `Retry-After`.",
    retryAfterSeconds: 5,
  },
  too_many_new_keys: {
    status: 429,
    message: "You created 30 API keys in a minute. Try again after the time in `Retry-After`.",
  },
  too_many_webhook_tests: {
    status: 429,
    message:
      "The webhooks of this organization were tested ten times in a minute. Try again after the time in `Retry-After`.",
  },
  too_many_emails: {
    status: 429,
    message:
      "The organization has sent its maximum of emails in this hour. Try again after the time in `Retry-After`.",
  },
  request_header_fields_too_large: {
    status: 431,
    message: "The request headers are larger than 16 KiB. Remove headers, such as cookies.",
  },
  internal_error: {
    status: 500,
    message: "This call failed. Send the request ID to the operator, who finds the cause in the log.",
  },
  redis_full: {
    status: 503,
    message:
      "Redis has used 90% of its memory, so nothing new can be created. Requests continue. The operator can give Redis more memory.",
    retryAfterSeconds: 60,
  },
  gateway_unavailable: {
    status: 503,
    message: "Redis can't be reached at the moment. Try again in a moment.",
    retryAfterSeconds: 1,
  },
} as const satisfies Record<string, AdminErrorDefinition>;

export type AdminErrorCode = keyof typeof ADMIN_ERRORS;

export interface AdminErrorOptions {
  readonly message?: string;
  /** Path of the wrong field, "notifications.emails.0", or name of a query parameter. */
  readonly param?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Cause for the log, never sent. */
  readonly cause?: unknown;
}

/** Error that a caller of the management API may read. */
export class AdminError extends Error {
  override readonly name = "AdminError";
  readonly code: AdminErrorCode;
  readonly param: string | null;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(code: AdminErrorCode, options: AdminErrorOptions = {}) {
    super(options.message ?? ADMIN_ERRORS[code].message, { cause: options.cause });
    this.code = code;
    this.param = options.param ?? null;
    this.#headers = options.headers ?? {};
  }

  get status(): number {
    return ADMIN_ERRORS[this.code].status;
  }

  get type(): ErrorType {
    return errorTypeOf(this.status);
  }

  /** Lower-case names. */
  get headers(): Readonly<Record<string, string>> {
    const definition: AdminErrorDefinition = ADMIN_ERRORS[this.code];
    const { retryAfterSeconds } = definition;
    return {
      ...(retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) }),
      ...(this.code === "invalid_token" ? { "www-authenticate": "Bearer" } : {}),
      ...this.#headers,
    };
  }

  /** Returns the body, in the form of all errors of the gateway. */
  toBody(requestId: string | null) {
    const { message, type, code, param } = this;
    return {
      error: { message, type, code, param, request_id: requestId, doc_url: docUrlOf(adminEntryOf(code)) },
    };
  }
}

/** Returns the id of a code's entry in the error reference: some codes also exist in the client API. */
export function adminEntryOf(code: AdminErrorCode): string {
  return `management-${code}`;
}

/** Creates a 400 for a field, by its path, or for a query parameter. */
export function invalidField(param: string, problem: string): AdminError {
  return new AdminError("invalid_parameter", { message: `\`${param}\`: ${problem}`, param });
}

/** @param noun "user", "key" … */
export function refuseMore(noun: string, most: number): AdminError {
  const message = `The organization has ${most} ${noun}s, the maximum. Delete some that it no longer needs.`;
  return new AdminError("organization_full", { message });
}
