/** What a caller of the management API can be told, in one table: code → status, message. */
import { type ErrorType, errorTypeOf } from "../contract/errors.ts";

interface AdminErrorDefinition {
  readonly status: number;
  /** What a caller reads when the place that throws has nothing better to say. */
  readonly message: string;
  readonly retryAfterSeconds?: number;
}

export const ADMIN_ERRORS = {
  invalid_json: { status: 400, message: "The request body must be a JSON object in UTF-8." },
  missing_required_parameter: { status: 400, message: "A required field is missing." },
  invalid_parameter: { status: 400, message: "A field has an invalid value." },
  invalid_request: { status: 400, message: "The request is not valid HTTP, or its URL cannot be read." },
  invalid_token: {
    status: 401,
    message:
      "Send the operator's token or an organization's token as `Authorization: Bearer <token>`. An API key is no token.",
  },
  permission_denied: { status: 403, message: "This token may not do that." },
  unknown_endpoint: { status: 404, message: "There is no such endpoint." },
  organization_not_found: {
    status: 404,
    message: "There is no such organization, or this token is not for it.",
  },
  key_not_found: { status: 404, message: "There is no such key in this organization." },
  user_not_found: { status: 404, message: "There is no such user in this organization." },
  group_not_found: { status: 404, message: "There is no such group in this organization." },
  token_not_found: { status: 404, message: "There is no such token in this organization." },
  session_not_found: { status: 404, message: "There is no such session here, or it is over." },
  raise_not_found: { status: 404, message: "There is no such raise here, or it was taken back." },
  alert_not_found: { status: 404, message: "There is no such alert in this organization." },
  request_not_found: {
    status: 404,
    message: "There is no such request among the recent requests of this organization.",
  },
  method_not_allowed: { status: 405, message: "This endpoint does not take this method." },
  request_timeout: { status: 408, message: "The request did not arrive in time." },
  currency_locked: {
    status: 409,
    message:
      "The currency of an organization cannot be changed once there is spend or a request in flight. Make another organization.",
  },
  organization_name_taken: {
    status: 409,
    message:
      "`name`: another organization has this name. Names are told apart neither by capitals nor by blanks.",
  },
  organization_full: { status: 409, message: "The organization has as many of these as it may." },
  too_many_raises: {
    status: 409,
    message:
      "Four raises are live here, and there cannot be more. Take one back, or make this one when one of them has ended.",
  },
  idempotency_key_reused: {
    status: 409,
    message:
      "Another call was made with this `Idempotency-Key`, and nothing was changed now. Repeat that call as it was, or send this one with a key of its own.",
  },
  webhook_not_set: {
    status: 409,
    message: "The organization has no webhook. Set `notifications.webhook.url` first.",
  },
  webhook_not_found: { status: 404, message: "The organization has no such webhook." },
  key_without_secret: {
    status: 409,
    message:
      "This key has no secret: its user comes with tokens of an identity provider. Make another key instead.",
  },
  change_conflict: { status: 409, message: "Others are changing this at the same time. Try again." },
  version_conflict: {
    status: 412,
    message: "Somebody else has changed this since: `If-Match` names an older version. Read it again.",
  },
  request_too_large: { status: 413, message: "The request body is larger than 1 MiB." },
  unsupported_media_type: {
    status: 415,
    message: "Send the request body as uncompressed JSON, without a `content-encoding`.",
  },
  too_many_wrong_tokens: {
    status: 429,
    message: "Too many wrong tokens came from this address. Try again when `retry-after` has passed.",
  },
  request_header_fields_too_large: { status: 431, message: "The request's headers are larger than 16 KiB." },
  internal_error: {
    status: 500,
    message: "This call failed. The request id helps the operator to find out why in the log.",
  },
  gateway_unavailable: {
    status: 503,
    message: "The store (Redis) cannot be reached at the moment. Try again in a moment.",
    retryAfterSeconds: 1,
  },
} as const satisfies Record<string, AdminErrorDefinition>;

export type AdminErrorCode = keyof typeof ADMIN_ERRORS;

export interface AdminErrorOptions {
  readonly message?: string;
  /** Path of the offending field: "notifications.emails.0", or the name of a query parameter. */
  readonly param?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** For the log only, never sent. */
  readonly cause?: unknown;
}

/** An error that a caller of the management API may read. */
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

  /** The body, in the shape of every error of the gateway. */
  toBody(requestId: string | null) {
    const { message, type, code, param } = this;
    return { error: { message, type, code, param, request_id: requestId } };
  }
}

/** 400: what is wrong with a field, by its path, or with a parameter of the query. */
export function invalidField(param: string, problem: string): AdminError {
  return new AdminError("invalid_parameter", { message: `\`${param}\`: ${problem}`, param });
}
