/**
 * What a client is told when an upstream answers with an error. The upstream's own text passes only where it is about
 * the client's own request (400, 413, 422; a 403, 404 or 500 that says so; an overflow of any status) and not about the
 * gateway's account there; everything else goes to the log, as the error's cause. A client's 429 always means a limit of its key, so an upstream's 429 becomes
 * `model_overloaded`, unless it is about the account: then nothing is to be tried again.
 */
import { type ErrorOptions, GatewayError } from "../../../shared/contract/errors.ts";
import { isAccountError } from "./account-error.ts";
import { CONTEXT_LENGTH_EXCEEDED, describeContextOverflow, isContextOverflow } from "./context-overflow.ts";
import type { ProtocolName } from "../client-protocol.ts";
import { isContentRefusal, isRequestRefusal, withoutAccount } from "./request-refusal.ts";
import { parseUpstreamError, readUpstreamError, type UpstreamErrorText } from "./error-text.ts";

export interface UpstreamFailure {
  /** The upstream's HTTP status, anything but 2xx. */
  readonly status: number;
  /** Its `retry-after` header, seconds or a date. */
  readonly retryAfter: string | null;
  readonly body: Uint8Array;
  /** What `Retry-After` says for a starting model when the upstream says nothing. */
  readonly startupSeconds: number;
  /** Catalog id. */
  readonly model: string;
  /** On the messages route an overflow of the context window gets the words that Anthropic's clients look for. */
  readonly protocol: ProtocolName;
  /** Unix milliseconds, for a `retry-after` that is a date. */
  readonly nowMs?: number;
}

interface Wait {
  readonly retryAfterSeconds: number | null;
  readonly startupSeconds: number | null;
}

/** "image input is not supported": of a part of the request, at the beginning of what the server says. */
const UNSUPPORTED = /^.{0,60}\b(?:is|are) not supported\b|^unsupported param/i;

const NO_WAIT: Wait = { retryAfterSeconds: null, startupSeconds: null };

/** An upstream's error response as the client's. */
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
 * An error that an upstream put into an answer of status 200 or into a chunk of a stream: its `code` decides when that
 * is an HTTP error status.
 * @param value The whole parsed body or chunk, or text that was no JSON.
 */
export function mapErrorInAnswer(
  value: unknown,
  options: { protocol: ProtocolName; model: string },
): GatewayError {
  const text = readUpstreamError(value);
  return mapStatus(text.status ?? 500, text, { ...options, wait: NO_WAIT });
}

/** Whether an error is about the gateway's own account at the upstream. */
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
  const told = readRequestFault(status, text);
  if (told !== null) return createRequestError(told, { protocol, model, cause });
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

/** What a server writes when it refuses a credential, or speaks of one. */
const OF_CREDENTIAL =
  /\bkey\b|\btoken\b|credential|authori[sz]|authenticat|bearer|signature|password|secret/i;
/** Long words, and those with digits among their letters. */
const LIKE_CREDENTIAL = /(?=[\w.~+/=-]*\d)[\w.~+/=-]{12,}|[\w.~+/=-]{20,}/g;

/** What the log says: a server may repeat the credential that it got, which only Envoy would recognise. */
function describeText(status: number, { message }: UpstreamErrorText): string {
  if (message === null) return "no message";
  const isOfCredential = status === 401 || status === 403 || OF_CREDENTIAL.test(message);
  return isOfCredential ? message.replace(LIKE_CREDENTIAL, "[redacted]") : message;
}

/** A server that has too much to do, which a wait helps. */
const ABOUT_LOAD = /\bqueue|overload|\bbusy\b|capacity|concurren|try again|retry/i;

/** What an error says of the client's request; null: it is about something else. */
function readRequestFault(status: number, text: UpstreamErrorText): UpstreamErrorText | null {
  if (status === 403 && isContentRefusal(text)) return withoutAccount(text);
  if (status < 400 || status === 401 || status === 402 || isAccountError(text)) return null;
  switch (status) {
    case 400:
    case 413:
    case 422:
      return isContentRefusal(text) ? withoutAccount(text) : text;
    case 403:
    case 404:
      return isRequestRefusal(text) || isContextOverflow(text) ? withoutAccount(text) : null;
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
      overflow ?? text.message ?? `The server of ${options.model} rejected the request without a reason.`,
    cause: options.cause,
    ...readCode(text),
    ...(text.param !== null && { param: text.param }),
  });
}

/** Agents know an overflow of the context window by its code, whatever the server's words are. */
function readCode(text: UpstreamErrorText): Pick<ErrorOptions, "publicCode" | "upstreamCode"> {
  if (isContextOverflow(text)) return { publicCode: CONTEXT_LENGTH_EXCEEDED };
  // A numeric code in quotes repeats the status, and a sentence (xAI) is none: they tell a client nothing.
  return text.code !== null && !/^\d+$|\s/.test(text.code) ? { upstreamCode: text.code } : {};
}

function formatWait(seconds: number | null): { retryAfterSeconds?: number } {
  return seconds === null ? {} : { retryAfterSeconds: seconds };
}

/**
 * Seconds from now of a `Retry-After` header, in either form; null when there is none or it is malformed.
 * @see https://www.rfc-editor.org/rfc/rfc9110#field.retry-after
 */
export function parseRetryAfter(value: string | null, nowMs: number): number | null {
  const text = value?.trim() ?? "";
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text);
  // Date.parse also takes bare numbers and the like: an HTTP date begins with the name of a day.
  if (!/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(text)) return null;
  const atMs = Date.parse(text);
  return Number.isNaN(atMs) ? null : Math.max(0, (atMs - nowMs) / 1000);
}
