/**
 * The session that a request names: the run of an agent, which may have a cap of its own (`store/lua/include/sessions.lua`). A
 * rail for agents that run away, not security: a client that takes another name has another session.
 */
import { createHash } from "node:crypto";
import { GatewayError } from "../../shared/contract/errors.ts";
import { SESSION_BUDGET_HEADER, SESSION_HEADERS } from "../../shared/contract/header-names.ts";
import { MAX_CENTS, parseCents } from "../../shared/money/money.ts";
import { scrub } from "../../shared/text/scrub.ts";

/** The body's field that names a session where no header does. */
export const SESSION_FIELD = "session_id";

/** What a request's headers say of its session. */
export interface SessionHeaders {
  /** The name in the form that is kept; null: the headers name none. */
  readonly session: string | null;
  /** What the session may spend at most, from now on; null: they do not say. */
  readonly sessionBudgetCents: number | null;
}

export const NO_SESSION: SessionHeaders = { session: null, sessionBudgetCents: null };
const NAME = /^[\x21-\x7e](?:[\x20-\x7e]{0,126}[\x21-\x7e])?$/;
const NAME_VALUES = "expected 1 to 128 printable ASCII characters, without a space at either end";
/** So many digits of its hash tell a name with a credential in it from others. */
const HASH_DIGITS = 16;

/** @throws GatewayError 400 `invalid_parameter` naming the header. */
export function readSessionHeaders(headers: Readonly<Record<string, string | undefined>>): SessionHeaders {
  const header = SESSION_HEADERS.find(({ name }) => headers[name] !== undefined);
  const budget = headers[SESSION_BUDGET_HEADER.name];
  if (header === undefined && budget === undefined) return NO_SESSION;
  return {
    session: header === undefined ? null : readSessionName(headers[header.name], header.title),
    sessionBudgetCents: budget === undefined ? null : readBudget(budget),
  };
}

/**
 * A session's name as it is kept and shown. It is a client's text: what has the form of a credential in it is left out, with
 * a hash in its place, so that two such names stay two sessions.
 * @param param The header or the field that it came in.
 * @throws GatewayError 400 `invalid_parameter` naming it.
 */
export function readSessionName(name: unknown, param: string): string {
  if (typeof name !== "string" || !NAME.test(name)) throw invalid(param, `${NAME_VALUES}.`);
  const shown = scrub(name);
  if (shown === name) return name;
  const hash = createHash("sha256").update(name).digest("hex").slice(0, HASH_DIGITS);
  return `${shown.slice(0, 100)} ${hash}`;
}

/** @throws GatewayError 400 `invalid_parameter`: a budget is a session's. */
export function refuseBudgetWithoutSession({ session, sessionBudgetCents }: SessionHeaders): void {
  if (session !== null || sessionBudgetCents === null) return;
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
