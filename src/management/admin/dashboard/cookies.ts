/**
 * The dashboard's cookies, which no script reads. The session's comes along where somebody follows a link of another site
 * (of an alert's email), and nothing is changed by a GET; with what another site sends by itself, a form too, it does not.
 * The sign-in page's is sent with nothing that another site has begun.
 */
import type { Context } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import type { CookieOptions } from "hono/utils/cookie";
import { SESSION_MS } from "../../../data-path/store/management/sessions.ts";

/** How long somebody may take at the provider. */
const TRANSACTION_SECONDS = 900;

function cookieOf(own: string, bounds: CookieOptions = {}) {
  return {
    read: (context: Context): string | null => getCookie(context, nameOf(context, own)) ?? null,
    write: (context: Context, value: string): void =>
      setCookie(context, nameOf(context, own), value, { ...attributes(context), ...bounds }),
    clear: (context: Context): void => {
      deleteCookie(context, nameOf(context, own), attributes(context));
    },
  };
}

/** The session's secret. */
export const SESSION = cookieOf("igw_session", { sameSite: "Lax", maxAge: SESSION_MS / 1000 });
/** Of the sign-in page, which has no session to bind its form to. */
export const VISIT = cookieOf("igw_visit");
/** Of the way to an identity provider and back: it must come along when the provider sends the browser back. */
export const TRANSACTION = cookieOf("igw_sign_in", { sameSite: "Lax", maxAge: TRANSACTION_SECONDS });

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
