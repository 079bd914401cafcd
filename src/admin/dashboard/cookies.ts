/**
 * The dashboard's cookies, which no script reads. The session's comes along where somebody follows a link of another site
 * (of an alert's mail), and nothing is changed by a GET; with what another site sends by itself, a form too, it does not.
 * The sign-in page's is sent with nothing that another site has begun.
 */
import type { Context } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import { SESSION_MS } from "./session.ts";

const SESSION = "igw_session";
/** Of the sign-in page, which has no session to bind its form to. */
const VISIT = "igw_visit";

/** The session's secret. */
export function readSession(context: Context): string | null {
  return getCookie(context, SESSION) ?? null;
}

export function writeSession(context: Context, secret: string): void {
  setCookie(context, SESSION, secret, { ...attributes(context), sameSite: "Lax", maxAge: SESSION_MS / 1000 });
}

export function clearSession(context: Context): void {
  deleteCookie(context, SESSION, attributes(context));
}

export function readVisit(context: Context): string | null {
  return getCookie(context, VISIT) ?? null;
}

export function writeVisit(context: Context, visit: string): void {
  setCookie(context, VISIT, visit, attributes(context));
}

/** `Secure` wherever the page came encrypted; on loopback it does not. */
function attributes(context: Context) {
  const isEncrypted =
    new URL(context.req.url).protocol === "https:" || context.req.header("x-forwarded-proto") === "https";
  return { path: "/", httpOnly: true, sameSite: "Strict", secure: isEncrypted } as const;
}
