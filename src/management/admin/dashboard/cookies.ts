/**
 * Cookies of the dashboard, which scripts cannot read. The session's cookie is sent when a user follows a
 * link from another site (as in an alert's email), and a GET changes nothing; it is not sent with requests of
 * other sites, such as forms. The sign-in page's cookie is never sent with a request that another site
 * initiated.
 */
import type { Context } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import type { CookieOptions } from "hono/utils/cookie";
import { SESSION_MS } from "../../../shared/stored/sessions.ts";

/** Time to complete a sign-in at the provider. */
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

/** Cookie with the session's secret. */
export const SESSION = cookieOf("igw_session", { sameSite: "Lax", maxAge: SESSION_MS / 1000 });
/** Cookie of the sign-in page, which has no session to bind its form to. */
export const VISIT = cookieOf("igw_visit");
/** Cookie of a sign-in with an identity provider: it must be sent when the provider redirects back. */
export const TRANSACTION = cookieOf("igw_sign_in", { sameSite: "Lax", maxAge: TRANSACTION_SECONDS });

/** Prefixed on encrypted pages, so that browsers let neither other hosts of the domain nor plain `http` set it. */
function nameOf(context: Context, name: string): string {
  return isEncrypted(context) ? `__Host-${name}` : name;
}

/** Attributes: `Secure` on encrypted pages; not on plain loopback. */
function attributes(context: Context) {
  return { path: "/", httpOnly: true, sameSite: "Strict", secure: isEncrypted(context) } as const;
}

function isEncrypted(context: Context): boolean {
  return (
    new URL(context.req.url).protocol === "https:" || context.req.header("x-forwarded-proto") === "https"
  );
}
