/**
 * The dashboard's cookies, which no script reads. The session's comes along where somebody follows a link of another site
 * (of an alert's mail), and nothing is changed by a GET; with what another site sends by itself, a form too, it does not.
 * The sign-in page's is sent with nothing that another site has begun.
 */
import type { Context } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import { SESSION_MS } from "../../store/management/sessions.ts";

const SESSION = "igw_session";
/** Of the sign-in page, which has no session to bind its form to. */
const VISIT = "igw_visit";
/** Of the way to an identity provider and back. */
const TRANSACTION = "igw_sign_in";
/** How long somebody may take at the provider. */
const TRANSACTION_SECONDS = 900;

/** The session's secret. */
export function readSession(context: Context): string | null {
  return getCookie(context, nameOf(context, SESSION)) ?? null;
}

export function writeSession(context: Context, secret: string): void {
  const bounds = { sameSite: "Lax", maxAge: SESSION_MS / 1000 } as const;
  setCookie(context, nameOf(context, SESSION), secret, { ...attributes(context), ...bounds });
}

export function clearSession(context: Context): void {
  deleteCookie(context, nameOf(context, SESSION), attributes(context));
}

export function readVisit(context: Context): string | null {
  return getCookie(context, nameOf(context, VISIT)) ?? null;
}

export function writeVisit(context: Context, visit: string): void {
  setCookie(context, nameOf(context, VISIT), visit, attributes(context));
}

export function readTransaction(context: Context): string | null {
  return getCookie(context, nameOf(context, TRANSACTION)) ?? null;
}

/** It must come along when the provider sends the browser back. */
export function writeTransaction(context: Context, transaction: string): void {
  const bounds = { sameSite: "Lax", maxAge: TRANSACTION_SECONDS } as const;
  setCookie(context, nameOf(context, TRANSACTION), transaction, { ...attributes(context), ...bounds });
}

export function clearTransaction(context: Context): void {
  deleteCookie(context, nameOf(context, TRANSACTION), attributes(context));
}

/** Where the page came encrypted, browsers let nobody else set one of this name: no other host of the domain, and no plain `http`. */
function nameOf(context: Context, name: string): string {
  return isEncrypted(context) ? `__Host-${name}` : name;
}

/** `Secure` wherever the page came encrypted; on loopback it does not. */
function attributes(context: Context) {
  return { path: "/", httpOnly: true, sameSite: "Strict", secure: isEncrypted(context) } as const;
}

function isEncrypted(context: Context): boolean {
  return (
    new URL(context.req.url).protocol === "https:" || context.req.header("x-forwarded-proto") === "https"
  );
}
