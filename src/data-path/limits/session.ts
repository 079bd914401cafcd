/**
 * Session named by a request: the run of an agent, which may have a cap (`store/lua/include/sessions.lua`).
 * Protects against runaway agents and is no security: a client that uses another name has another session.
 */
import { createHash } from "node:crypto";
import { GatewayError } from "../../shared/contract/errors.ts";
import { SESSION_BUDGET_HEADER, SESSION_HEADERS } from "../../shared/contract/header-names.ts";
import { MAX_CENTS, parseCents } from "../../shared/money/money.ts";
import { scrub } from "../../shared/text/scrub.ts";

/** Field of the body that names a session if no header does. */
export const SESSION_FIELD = "session_id";

/** Session fields of a request's headers. */
export interface SessionHeaders {
  /** Sanitized name; undefined: the headers name none. */
  readonly session: string | undefined;
  /** Budget of the session from now on, in cents; null: not sent. */
  readonly sessionBudgetCents: number | null;
}

export const NO_SESSION: SessionHeaders = { session: undefined, sessionBudgetCents: null };
const NAME = /^[\x21-\x7e](?:[\x20-\x7e]{0,126}[\x21-\x7e])?$/;
const NAME_VALUES = "expected 1 to 128 printable ASCII characters, without a space at either end";
/** Digits of the hash that distinguishes names with a credential. */
const HASH_DIGITS = 16;

/** @throws GatewayError 400 `invalid_parameter` naming the header. */
export function readSessionHeaders(headers: Readonly<Record<string, string | undefined>>): SessionHeaders {
  const header = SESSION_HEADERS.find(({ name }) => headers[name] !== undefined);
  const budget = headers[SESSION_BUDGET_HEADER.name];
  if (header === undefined && budget === undefined) return NO_SESSION;
  return {
    session: header === undefined ? undefined : readSessionName(headers[header.name], header.title),
    sessionBudgetCents: budget === undefined ? null : readBudget(budget),
  };
}

/**
 * Sanitizes a session's name for storage and display. Clients choose the text: anything that looks like a
 * credential is replaced by a hash, so that different names remain different sessions.
 * @param param Header or field that contained the name.
 * @throws GatewayError 400 `invalid_parameter` naming it.
 */
export function readSessionName(name: unknown, param: string): string {
  if (typeof name !== "string" || !NAME.test(name)) throw invalid(param, `${NAME_VALUES}.`);
  const shown = scrub(name);
  if (shown === name) return name;
  const hash = createHash("sha256").update(name).digest("hex").slice(0, HASH_DIGITS);
  return `${shown.slice(0, 100)} ${hash}`;
}

/** Rejects a budget without a session. @throws GatewayError 400 `invalid_parameter` */
export function refuseBudgetWithoutSession({ session, sessionBudgetCents }: SessionHeaders): void {
  if (session !== undefined || sessionBudgetCents === null) return;
  const names = SESSION_HEADERS.map(({ title }) => `\`${title}\``).join(", ");
  const message = `the request names no session. Name one in ${names}, or \`${SESSION_FIELD}\` of the body.`;
  throw invalid(SESSION_BUDGET_HEADER.title, message);
}

function readBudget(text: string): number {
  const cents = parseCents(text);
  if (cents !== null && cents <= MAX_CENTS) return cents;
  throw invalid(
    SESSION_BUDGET_HEADER.title,
    "expected an amount in the organization's currency, such as 2.50.",
  );
}

function invalid(param: string, problem: string): GatewayError {
  return new GatewayError("invalid_parameter", { message: `\`${param}\`: ${problem}`, param });
}
