/** Check that a form was sent from a page of this server, by headers that browsers set and pages cannot. */
import type { Context } from "hono";
import { AdminError } from "../admin-error.ts";
import { readBytes } from "../http/read-json-body.ts";
import { FormValues } from "./form.ts";
import { PAGE_ROUTES } from "./page-routes.ts";

/** 256 KiB: more than a key's list of models needs. */
const MAX_FORM_BYTES = 256 * 1024;

/** @throws AdminError 403 if the form comes from another site, or the browser does not say from where. */
export function requireOwnPage(context: Pick<Context, "req">): void {
  const site = context.req.header("sec-fetch-site");
  const origin = context.req.header("origin");
  const isSameSite = site === undefined || site === "same-origin";
  if (isSameSite && origin !== undefined && isOwnOrigin(origin, context)) return;
  const message =
    "This form wasn't sent from a page of this server (`Origin`); nothing was changed. Open the page again and send the form from there.";
  throw new AdminError("permission_denied", { message });
}

/** Compares host and port only, since a TLS proxy in front of this server changes the scheme. */
function isOwnOrigin(origin: string, context: Pick<Context, "req">): boolean {
  const host = context.req.header("host");
  return (
    host !== undefined && URL.canParse(origin) && new URL(origin).host === stripDefaultPort(host, origin)
  );
}

function stripDefaultPort(host: string, origin: string): string {
  const { protocol } = new URL(origin);
  return URL.canParse(`${protocol}//${host}`) ? new URL(`${protocol}//${host}`).host : host;
}

/** @throws AdminError 413, 415. */
export async function readForm(context: Pick<Context, "req">): Promise<FormValues> {
  const type = context.req.header("content-type") ?? "";
  if (!type.startsWith("application/x-www-form-urlencoded")) {
    throw new AdminError("unsupported_media_type", { message: "This isn't a form. Send it with a browser." });
  }
  const bytes = await readBytes(context.req.raw, MAX_FORM_BYTES, () => {
    const message = "The form is larger than 256 KiB. Enter less.";
    return new AdminError("request_too_large", { message, headers: { connection: "close" } });
  });
  return new FormValues(bytes.toString("utf8"));
}

const PAGES = PAGE_ROUTES.filter((route) => route.method === "GET").map(
  (route) => new RegExp(`^${route.path.replaceAll(".", "\\.").replace(/:\w+/g, "[^/]+")}$`),
);

/** Returns the page of a call: its own, or for a form the one that it was sent from. */
export function findPagePath(context: Pick<Context, "req">): string {
  const { origin, pathname, search } = new URL(context.req.url);
  if (context.req.method === "GET") return pathname + search;
  const referrer = context.req.header("referer") ?? "";
  const from = URL.canParse(referrer, origin) ? new URL(referrer, origin).pathname : "/";
  return [from, pathname].find((path) => PAGES.some((page) => page.test(path))) ?? "/";
}
