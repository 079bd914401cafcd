/** `GET /metrics`, for Prometheus: all processes of this host on one page. */
import { createHash, timingSafeEqual } from "node:crypto";
import type { Hono } from "hono";
import { AdminError } from "./admin-error.ts";

export interface MetricsPage {
  readonly render: () => Promise<{ readonly contentType: string; readonly text: string }>;
  /** `telemetry.metrics_token`. */
  readonly token: string | null;
  /** Without a token of its own: whether nobody but this machine reaches the admin port. */
  readonly isLocal: boolean;
}

/** @param operatorToken Good for the page, too. */
export function addMetrics(
  app: Pick<Hono, "get">,
  { page, operatorToken }: { page: MetricsPage; operatorToken: string },
): void {
  app.get("/metrics", async (context) => {
    // What came through a proxy did not come from this machine.
    const isForwarded = ["forwarded", "x-forwarded-for", "via"].some(
      (name) => context.req.header(name) !== undefined,
    );
    if (page.token !== null || !page.isLocal || isForwarded) {
      requireToken(context.req.header("authorization"), [page.token, operatorToken]);
    }
    const { contentType, text } = await page.render();
    return context.body(text, 200, { "content-type": contentType, "cache-control": "no-store" });
  });
}

function requireToken(authorization: string | undefined, accepted: readonly (string | null)[]): void {
  const given = /^bearer +(\S+) *$/i.exec(authorization ?? "")?.[1];
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  const isGood =
    given !== undefined &&
    accepted.some((token) => token !== null && timingSafeEqual(digest(given), digest(token)));
  if (!isGood) throw new AdminError("invalid_token");
}
