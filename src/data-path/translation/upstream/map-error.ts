/**
 * Maps an upstream's error to the client's. The upstream's text is only forwarded if it is about the client's request
 * (400, 413, 422; a 403, 404 or 500 whose text says so; a context overflow with any status) and not about the
 * gateway's account, and without names of that account; all other texts are logged as the error's cause. A 429 always means a limit of the client's key,
 * so an upstream's 429 becomes `model_overloaded`, unless it is about the account, in which case retrying does not
 * help.
 */
import { type ErrorOptions, GatewayError } from "../../../shared/contract/errors.ts";
import { isAccountError } from "./account-error.ts";
import { CONTEXT_LENGTH_EXCEEDED, describeContextOverflow, isContextOverflow } from "./context-overflow.ts";
import type { ProtocolName } from "../client-protocol.ts";
import { parseUpstreamError, readUpstreamError, type UpstreamErrorText } from "./error-text.ts";
import { redactAccount } from "./redact-account.ts";
import { isContentRefusal, isRequestRefusal } from "./request-refusal.ts";

export interface UpstreamFailure {
  /** The upstream's HTTP status, not 2xx. */
  readonly status: number;
  /** Its `retry-after` header, in seconds or as a date. */
  readonly retryAfter: string | null;
  readonly body: Uint8Array;
  /** `Retry-After` of a starting model, if the upstream sends none. */
  readonly startupSeconds: number;
  /** Catalog id. */
  readonly model: string;
  /** On the messages route, context overflows are reworded for Anthropic's clients. */
  readonly protocol: ProtocolName;
  /** Current Unix milliseconds, for a `retry-after` that is a date. */
  readonly nowMs?: number;
}

interface Wait {
  readonly retryAfterSeconds: number | null;
  readonly startupSeconds: number | null;
}

/** Matches a message that begins by naming a part of the request: "image input is not supported". */
const UNSUPPORTED = /^.{0,60}\b(?:is|are) not supported\b|^unsupported param/i;

const NO_WAIT: Wait = { retryAfterSeconds: null, startupSeconds: null };

/** Converts an upstream's error response for the client. */
export function mapUpstreamError(failure: UpstreamFailure): GatewayError {
  const { status, body, startupSeconds, protocol } = failure;
  const retryAfterSeconds = parseRetryAfter(failure.retryAfter, failure.nowMs ?? Date.now());
  const text = parseUpstreamError(status, body);
  return mapStatus(status, text, {
    protocol,
    model: failure.model,
    wait: { retryAfterSeconds, startupSeconds },
  });
}

/**
 * Converts an error inside an answer of status 200 or a chunk of a stream. Its `code` is used if it is an HTTP error
 * status.
 * @param value The whole parsed body or chunk, or text that was not JSON.
 */
export function mapErrorInAnswer(
  value: unknown,
  options: { protocol: ProtocolName; model: string },
): GatewayError {
  const text = readUpstreamError(value);
  return mapStatus(text.status ?? 500, text, { ...options, wait: NO_WAIT });
}

/** Returns whether an error is about the gateway's own account at the upstream. */
export function isAboutAccount({ code }: GatewayError): boolean {
  return code === "upstream_authentication_failed";
}

export function isOverflow({ publicCode }: GatewayError): boolean {
  return publicCode === CONTEXT_LENGTH_EXCEEDED;
}

function mapStatus(
  status: number,
  text: UpstreamErrorText,
  options: { protocol: ProtocolName; model: string; wait: Wait },
): GatewayError {
  const { protocol, model, wait } = options;
  const cause = new Error(`upstream status ${status}: ${describeText(status, text)}`);
  const fault = readRequestFault(status, text);
  if (fault !== null) return createRequestError(redactAccount(fault), { protocol, model, cause });
  if (isAccountError(text)) return new GatewayError("upstream_authentication_failed", { cause });
  switch (status) {
    case 401:
    case 402:
    case 403:
      return new GatewayError("upstream_authentication_failed", { cause });
    case 404:
      return new GatewayError("upstream_model_not_found", { cause });
    case 408:
    case 504:
      return new GatewayError("upstream_timeout", { cause });
    case 429:
    case 529:
      return new GatewayError("model_overloaded", { cause, ...formatWait(wait.retryAfterSeconds) });
    case 503:
      return new GatewayError("model_starting", {
        cause,
        ...formatWait(wait.retryAfterSeconds ?? wait.startupSeconds),
      });
    default:
      return new GatewayError("upstream_error", { cause });
  }
}

/** Words of a server that rejects a credential or quotes one. */
const ABOUT_CREDENTIAL =
  /\bkey\b|\btoken\b|credential|authori[sz]|authenticat|bearer|signature|password|secret/i;
/** Long words, and shorter ones with digits. */
const LIKE_CREDENTIAL = /(?=[\w.~+/=-]*\d)[\w.~+/=-]{12,}|[\w.~+/=-]{20,}/g;

/**
 * Formats the message for the log. A server may repeat the credential that it received, which this process does not
 * know and cannot recognize exactly.
 */
function describeText(status: number, { message }: UpstreamErrorText): string {
  if (message === null) return "no message";
  const isAboutCredential = status === 401 || status === 403 || ABOUT_CREDENTIAL.test(message);
  return isAboutCredential ? message.replace(LIKE_CREDENTIAL, "[redacted]") : message;
}

/** Words of an overloaded server, for which waiting helps. */
const ABOUT_LOAD = /\bqueue|overload|\bbusy\b|capacity|concurren|try again|retry/i;

/** Returns the error if it is about the client's request, otherwise null. */
function readRequestFault(status: number, text: UpstreamErrorText): UpstreamErrorText | null {
  if (status === 403 && isContentRefusal(text)) return text;
  if (status < 400 || status === 401 || status === 402 || isAccountError(text)) return null;
  switch (status) {
    case 400:
    case 413:
    case 422:
      return text;
    case 403:
    case 404:
      return isRequestRefusal(text) || isContextOverflow(text) ? text : null;
    case 500:
      return isContextOverflow(text) || UNSUPPORTED.test(text.message ?? "") ? text : null;
    default:
      return isContextOverflow(text) && !ABOUT_LOAD.test(text.message ?? "") ? text : null;
  }
}

function createRequestError(
  text: UpstreamErrorText,
  options: { protocol: ProtocolName; model: string; cause: Error },
): GatewayError {
  const overflow = options.protocol === "messages" ? describeContextOverflow(text) : null;
  return new GatewayError("invalid_parameter", {
    message:
      overflow ?? (text.message || `The server of ${options.model} rejected the request without a reason.`),
    cause: options.cause,
    ...readCode(text),
    ...(text.param !== null && { param: text.param }),
  });
}

/** Agents recognize a context overflow by its code. */
function readCode(text: UpstreamErrorText): Pick<ErrorOptions, "publicCode" | "upstreamCode"> {
  if (isContextOverflow(text)) return { publicCode: CONTEXT_LENGTH_EXCEEDED };
  // A numeric code repeats the status, and a sentence (xAI) is not a code: neither helps a client.
  return text.code !== null && !/^\d+$|[\s[]/.test(text.code) ? { upstreamCode: text.code } : {};
}

function formatWait(seconds: number | null): { retryAfterSeconds?: number } {
  return seconds === null ? {} : { retryAfterSeconds: seconds };
}

/**
 * Parses a `Retry-After` header of either form into seconds from now; null if absent or malformed.
 * @see https://www.rfc-editor.org/rfc/rfc9110#field.retry-after
 */
export function parseRetryAfter(value: string | null, nowMs: number): number | null {
  const text = value?.trim() ?? "";
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text);
  // Date.parse also accepts bare numbers and the like; an HTTP date begins with a weekday.
  if (!/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(text)) return null;
  const atMs = Date.parse(text);
  return Number.isNaN(atMs) ? null : Math.max(0, (atMs - nowMs) / 1000);
}
