import type { Context } from "hono";
import { PAGE_ROUTES } from "./page-routes.ts";

const PAGES = PAGE_ROUTES.filter((route) => route.method === "GET").map(
  (route) => new RegExp(`^${route.path.replaceAll(".", "\\.").replace(/:\w+/g, "[^/]+")}$`),
);

/** The page that a call is about: its own, or for a form the one that it was sent from. */
export function findPagePath(context: Pick<Context, "req">): string {
  const { origin, pathname, search } = new URL(context.req.url);
  if (context.req.method === "GET") return pathname + search;
  const referrer = context.req.header("referer") ?? "";
  const from = URL.canParse(referrer, origin) ? new URL(referrer, origin).pathname : "/";
  return [from, pathname].find((path) => PAGES.some((page) => page.test(path))) ?? "/";
}
