/** `GET /metrics`, for Prometheus: all processes of this host on one page. */
import { isSameText, readBearer } from "./principal.ts";
import { AdminError } from "./admin-error.ts";
import type { AdminApp, AdminAppOptions, MetricsPage } from "./app-options.ts";
import { type MinuteLimit, withFailureLimit } from "./minute-limit.ts";

/** The operator's token also authorizes the page. */
interface MetricsRouteOptions extends Pick<AdminAppOptions, "operatorToken" | "nowMs"> {
  readonly page: MetricsPage;
  readonly limit: MinuteLimit;
}

/** Guards against DNS rebinding: another site's name that resolves to this host would appear in `Host`. */
const LOCAL_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i;
/** Requests with these came through a proxy, so not from this host. */
const PROXY_HEADERS = ["forwarded", "x-forwarded-for", "via"];

export function addMetrics(app: AdminApp, { page, operatorToken, limit, nowMs }: MetricsRouteOptions): void {
  app.get("/metrics", async (context) => {
    const isForwarded = PROXY_HEADERS.some((name) => context.req.header(name) !== undefined);
    const isFromHere = page.isLocal && !isForwarded && LOCAL_HOST.test(context.req.header("host") ?? "");
    if (page.token !== null || !isFromHere) {
      const authorization = context.req.header("authorization");
      const accepted = [page.token, operatorToken];
      await withFailureLimit(context, limit, nowMs(), () => requireToken(authorization, accepted));
    }
    const { contentType, text } = await page.render();
    return context.body(text, 200, { "content-type": contentType, "cache-control": "no-store" });
  });
}

function requireToken(authorization: string | undefined, accepted: readonly (string | null)[]): void {
  const given = readBearer(authorization);
  if (given !== undefined && accepted.some((token) => token !== null && isSameText(given, token))) return;
  throw new AdminError("invalid_token");
}
