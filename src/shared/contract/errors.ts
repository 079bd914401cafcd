/**
 * Table of all errors for clients: code → status, message, and the type if it differs from the status's. Only
 * a `GatewayError`'s public message leaves the process; causes go to the log. Any other error becomes an
 * `internal_error`.
 */

/** Error types that both SDK families know. */
export type ErrorType =
  | "invalid_request_error"
  | "authentication_error"
  | "billing_error"
  | "permission_error"
  | "not_found_error"
  | "request_too_large"
  | "rate_limit_error"
  | "api_error"
  | "overloaded_error"
  | "timeout_error";

/** Types of errors by status; all others are `invalid_request_error`. */
const TYPES: Readonly<Record<number, ErrorType>> = {
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  500: "api_error",
  502: "api_error",
  503: "api_error",
  504: "timeout_error",
};

export function errorTypeOf(status: number): ErrorType {
  return TYPES[status] ?? "invalid_request_error";
}

/** Checks of limits, which are the reasons in the metric of rejections; caps are counted by period. */
export const LIMIT_CHECKS = ["bucket", "tokens", "concurrency", "session_cap", "buffers"] as const;
export const CAP_CHECKS = ["key_cap", "user_cap", "group_cap", "organization_cap"] as const;

type FailedCheck = (typeof LIMIT_CHECKS | typeof CAP_CHECKS)[number] | "model" | "size" | "guardrail";

/** Failed check that rejects an admitted request, unless it is the body's; null: the error rejects none. */
type ByStatus =
  | { readonly status: 402 | 403 | 413 | 429; readonly check: FailedCheck | null }
  | {
      readonly status: 400 | 401 | 404 | 405 | 408 | 415 | 426 | 431 | 500 | 502 | 503 | 504;
      readonly check?: FailedCheck;
    };

type ErrorDefinition = ByStatus & {
  /** Status on the messages routes, if the Anthropic protocol differs. */
  readonly messagesStatus?: number;
  /** Type, if it differs from that of its status. */
  readonly type?: ErrorType;
  /** Default message for clients. */
  readonly message: string;
  /** Default number of seconds before a retry makes sense. */
  readonly retryAfterSeconds?: number;
  /** True if the seconds are sent unchanged, not limited to what every SDK waits for. */
  readonly hasTrueRetryAfter?: true;
};

export const ERRORS = {
  invalid_json: { status: 400, message: "The request body is not valid JSON." },
  missing_required_parameter: { status: 400, message: "A required field is missing." },
  invalid_parameter: { status: 400, message: "A field has an invalid value." },
  unsupported_parameter: { status: 400, message: "The model doesn't support a field of the request." },
  model_not_found: {
    status: 400,
    check: "model",
    message: "Unknown model. `GET /v1/models` lists the models that this API key can use.",
  },
  endpoint_not_available_for_model: { status: 400, message: "This model isn't available at this endpoint." },
  missing_api_key: {
    status: 401,
    message: "No API key sent. Send it as `Authorization: Bearer <API_KEY>` or as `x-api-key: <API_KEY>`.",
  },
  invalid_api_key: {
    status: 401,
    message:
      "Invalid API key. Keys of this gateway start with `sk-igw-`. Check that you copied all of it, or create one on the API keys page.",
  },
  hard_cap_reached: {
    status: 402,
    check: "key_cap",
    message: "A hard cap of the API key is reached. Raise the cap on the API keys page.",
  },
  user_hard_cap_reached: {
    status: 402,
    check: "user_cap",
    message: "A hard cap of the API key's user is reached. Raise the cap on the Users page.",
  },
  group_hard_cap_reached: {
    status: 402,
    check: "group_cap",
    message: "A hard cap of the API key's group is reached. Raise the cap on the Groups page.",
  },
  org_hard_cap_reached: {
    status: 402,
    check: "organization_cap",
    message: "A hard cap of the organization is reached. Raise it in the organization's inference settings.",
  },
  session_cap_reached: {
    status: 402,
    check: "session_cap",
    message:
      "The cap of the request's session is reached. Raise the session cap of the key or organization, or end this run.",
  },
  key_disabled: {
    status: 403,
    check: null,
    message: "This API key is disabled. Enable it on the API keys page, or use another key.",
  },
  key_expired: {
    status: 403,
    check: null,
    message: "This API key has expired. Extend it on the API keys page, or use another key.",
  },
  user_disabled: {
    status: 403,
    check: null,
    message: "The user of this API key is disabled. Ask an admin of your organization to enable the user.",
  },
  organization_suspended: {
    status: 403,
    check: null,
    message: "The organization of this API key is suspended. Contact the operator of this gateway.",
  },
  identity_not_allowed: {
    status: 403,
    check: null,
    message:
      "Your token is valid, but its user can't use this gateway. Contact the operator of this gateway.",
  },
  model_not_allowed: {
    status: 403,
    check: "model",
    message: "This API key can't use this model. `GET /v1/models` lists the models that it can use.",
  },
  model_not_available_in_currency: {
    status: 403,
    check: "model",
    message:
      "This model has no price in the organization's billing currency. `GET /v1/models` lists the models that have one.",
  },
  guardrail_blocked: {
    status: 403,
    check: "guardrail",
    message: "A guardrail of this gateway blocked the request.",
  },
  upgrade_not_supported: {
    status: 403,
    check: null,
    message: "Protocol upgrades aren't supported. Send the request over plain HTTP/1.1 or HTTP/2.",
  },
  websocket_not_supported: {
    status: 426,
    message: "WebSocket isn't supported. Send `POST /v1/responses` over HTTP.",
  },
  unknown_endpoint: { status: 404, message: "Unknown endpoint. `GET /` lists the endpoints." },
  request_not_found: {
    status: 404,
    message:
      "Unknown request: only recent requests of this API key can be read, about 10,000 of its organization.",
  },
  response_not_found: {
    status: 404,
    message: "This gateway doesn't store responses. Send the whole input with every request.",
  },
  method_not_allowed: {
    status: 405,
    message: "This endpoint doesn't accept this method. The `Allow` header lists the ones that it accepts.",
  },
  request_timeout: {
    status: 408,
    message: "The request body did not arrive in time. Send it faster, or in a smaller request.",
  },
  request_too_large: {
    status: 413,
    check: "size",
    message: "The request body is larger than this gateway accepts. Send a smaller one.",
  },
  unsupported_media_type: {
    status: 415,
    message: "The request body isn't uncompressed JSON. Send JSON without a `content-encoding`.",
  },
  rate_limit_exceeded: {
    status: 429,
    check: "bucket",
    message: "The rate limit of the API key is reached. Try again after the time in `Retry-After`.",
    retryAfterSeconds: 1,
  },
  token_rate_limit_exceeded: {
    status: 429,
    check: "tokens",
    message: "A limit of tokens per minute is reached. Try again after the time in `Retry-After`.",
    retryAfterSeconds: 1,
    hasTrueRetryAfter: true,
  },
  concurrency_limit_exceeded: {
    status: 429,
    check: "concurrency",
    message: "The API key's limit of concurrent requests is reached. Try again when one has ended.",
    retryAfterSeconds: 1,
  },
  buffer_limit_exceeded: {
    status: 429,
    check: "buffers",
    message:
      "The API key has reached its share of the gateway's memory. Try again when one of its requests has ended, or send smaller bodies.",
    retryAfterSeconds: 1,
  },
  request_header_fields_too_large: {
    status: 431,
    message: "The request headers are too large. Remove headers, such as cookies.",
  },
  internal_error: {
    status: 500,
    message: "The gateway failed to handle this request. Send the request ID to the operator.",
  },
  upstream_error: {
    status: 502,
    message:
      "The model server returned an unusable response. Try again; if it persists, send the request ID to the operator.",
  },
  upstream_authentication_failed: {
    status: 502,
    message:
      "The model server rejected the gateway's credential. Contact the operator of this gateway, who must renew it.",
  },
  upstream_model_not_found: {
    status: 502,
    message:
      "The model server doesn't have this model or endpoint. Contact the operator of this gateway, who must correct its name or address.",
  },
  model_starting: {
    status: 503,
    type: "overloaded_error",
    message: "The model is starting. Try again after the time in `Retry-After`.",
    retryAfterSeconds: 5,
  },
  model_unreachable: {
    status: 503,
    message:
      "The model server can't be reached. Try again after the time in `Retry-After`; if it persists, contact the operator " +
      "of this gateway.",
    retryAfterSeconds: 5,
  },
  model_overloaded: {
    status: 503,
    messagesStatus: 529,
    type: "overloaded_error",
    message: "The model is overloaded. Try again after the time in `Retry-After`.",
    retryAfterSeconds: 5,
  },
  gateway_overloaded: {
    status: 503,
    check: "size",
    type: "overloaded_error",
    message: "The gateway is out of memory for request bodies. Try again in a moment.",
    retryAfterSeconds: 1,
  },
  gateway_unavailable: {
    status: 503,
    message: "The gateway can't check API keys at the moment. Try again in a moment.",
    retryAfterSeconds: 1,
  },
  upstream_timeout: {
    status: 504,
    message: "The model server didn't respond in time. Try again, or ask for a shorter response.",
  },
} as const satisfies Record<string, ErrorDefinition>;

export type ErrorCode = keyof typeof ERRORS;

/** Returns the check that an error reports as failed. */
export function failedCheckOf(code: ErrorCode): FailedCheck | "body" {
  const { check }: ErrorDefinition = ERRORS[code];
  return check ?? "body";
}

/** Error code of a reached cap, by scope; names of checks and labels of metrics are made of the scope. */
export const CAP_CODES = {
  key: "hard_cap_reached",
  user: "user_hard_cap_reached",
  group: "group_hard_cap_reached",
  organization: "org_hard_cap_reached",
} as const satisfies Readonly<Record<string, ErrorCode>>;

/** All codes of the gateway that clients may read: the list is closed, so a code may be a metric label. */
export type OwnCode = ErrorCode | "context_length_exceeded";

/** Some SDKs ignore waits from 60 seconds on, or give up. */
const MAX_RETRY_AFTER_SECONDS = 59;

export interface ErrorOptions {
  /** Message for the client. Default: from the table. */
  readonly message?: string;
  /** Path of the wrong field in the request body, "messages.2.content". */
  readonly param?: string;
  /** Replaces the code in the body. */
  readonly publicCode?: OwnCode;
  /** Same with a code from an upstream. */
  readonly upstreamCode?: string;
  /** Seconds, any number; clamped to 1 to 59. */
  readonly retryAfterSeconds?: number;
  /** Further fields of the error object: scope, spent_cents … */
  readonly fields?: Readonly<Record<string, string | number | boolean | null>>;
  /** Further response headers, in lower case: `allow`, `www-authenticate`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Cause for the log, never sent. */
  readonly cause?: unknown;
}

/** Error that a client may read. */
export class GatewayError extends Error {
  override readonly name = "GatewayError";
  readonly code: ErrorCode;
  readonly type: ErrorType;
  /** Code for the client; may come from an upstream. */
  readonly publicCode: string;
  /** The gateway's own code, for metrics. */
  readonly ownCode: OwnCode;
  readonly param: string | null;
  /** Whole seconds, 1 to 59, or null. */
  readonly retryAfterSeconds: number | null;
  readonly fields: Readonly<Record<string, string | number | boolean | null>>;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, options: ErrorOptions = {}) {
    const definition: ErrorDefinition = ERRORS[code];
    const { stackTraceLimit } = Error;
    // Rejections are normal responses: their stack is never read, and capturing it takes a sixteenth of a
    // rejected request's time.
    if (definition.status < 500) Error.stackTraceLimit = 0;
    super(options.message ?? definition.message, { cause: options.cause });
    Error.stackTraceLimit = stackTraceLimit;
    this.code = code;
    this.type = definition.type ?? errorTypeOf(definition.status);
    this.ownCode = options.publicCode ?? code;
    this.publicCode = options.upstreamCode ?? this.ownCode;
    this.param = options.param ?? null;
    const seconds = options.retryAfterSeconds ?? definition.retryAfterSeconds;
    this.retryAfterSeconds = seconds === undefined ? null : boundRetryAfter(seconds, definition);
    this.fields = options.fields ?? {};
    this.headers = options.headers ?? {};
  }

  /** Returns the error itself, or `internal_error` with the thrown value as its cause. */
  static from(thrown: unknown): GatewayError {
    return toGatewayError(thrown);
  }

  /** Returns the HTTP status on the route's protocol. */
  status(protocol: "chat" | "messages" | "responses" | "embeddings" | "completions"): number {
    const definition: ErrorDefinition = ERRORS[this.code];
    return protocol === "messages" ? (definition.messagesStatus ?? definition.status) : definition.status;
  }

  /** Value of `x-should-retry`, which SDKs obey before they look at the status. */
  get shouldRetry(): boolean {
    const { status } = ERRORS[this.code];
    return status === 429 || status >= 500;
  }
}

/** Outside of the class: esbuild would rename the class and restore its name (see `src/operation/setup/build.js`). */
function toGatewayError(thrown: unknown): GatewayError {
  return thrown instanceof GatewayError ? thrown : new GatewayError("internal_error", { cause: thrown });
}

function boundRetryAfter(seconds: number, { hasTrueRetryAfter }: ErrorDefinition): number | null {
  return hasTrueRetryAfter === true ? Math.max(1, Math.ceil(seconds)) : clampRetryAfterSeconds(seconds);
}

/** Returns whole seconds from 1 to 59, the longest wait that every SDK honors; null if it is not a number. */
export function clampRetryAfterSeconds(seconds: number): number | null {
  if (Number.isNaN(seconds)) return null;
  return Math.min(MAX_RETRY_AFTER_SECONDS, Math.max(1, Math.ceil(seconds)));
}
