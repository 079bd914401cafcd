/** The faults behind the alarms, provoked: what each rule looks at moves. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Redis } from "ioredis";
import { describe, expect, it } from "vitest";
import { METRICS } from "../../src/shared/telemetry/metric-definitions.ts";
import { chatBody, CHAT_PATH, withChatStack } from "../support/chat-stack.ts";
import { send } from "../support/http.ts";
import { parseMetrics, type Sample, sumOf } from "../support/metrics-page.ts";
import { startSideEnvoy } from "../support/side-envoy.ts";
import { waitFor } from "../support/wait.ts";

/** Nothing listens there: a collector that is away. */
const COLLECTOR = "http://127.0.0.1:9";
const chat = withChatStack(() => ({ overrides: { telemetry: { otlp: { url: COLLECTOR } } } }));

/** Without a token: the admin port is on loopback and no token is configured. */
async function scrape(): Promise<Sample[]> {
  const answer = await send(chat.stack.adminUrl, { path: "/metrics" });
  expect(answer.status).toBe(200);
  return parseMetrics(answer.text);
}

describe("GET /metrics without a token of its own", () => {
  it("is open to this machine, but not to what comes through a proxy", async () => {
    await scrape();
    const headers = { "x-forwarded-for": "203.0.113.7" };
    expect((await send(chat.stack.adminUrl, { path: "/metrics", headers })).status).toBe(401);
    const authorization = `Bearer ${chat.stack.adminToken}`;
    const answer = await send(chat.stack.adminUrl, {
      path: "/metrics",
      headers: { ...headers, authorization },
    });
    expect(answer.status).toBe(200);
  });
});

describe("traces", () => {
  it("pass the client's context on to the upstream, and a collector that is away harms nothing", async () => {
    const trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    const headers = { traceparent: `00-${trace}-00f067aa0ba902b7-01` };
    const answer = await chat.send({ headers, body: chatBody() });
    expect(answer.status).toBe(200);
    const passed = String(chat.upstream.lastRequest.headers["traceparent"]);
    expect(passed).toMatch(new RegExp(`^00-${trace}-[0-9a-f]{16}-01$`));
    expect(passed).not.toBe(headers.traceparent);
  });
});

describe("an alarm's metric", () => {
  it("says that Redis is unreachable, counts its failures, and says when it is back", async () => {
    expect((await chat.send({ body: chatBody() })).status).toBe(200);
    const before = await scrape();
    expect(sumOf(before, METRICS.redisOut.name)).toBe(0);
    const redis = new Redis({ path: join(chat.stack.dir, "run/redis.sock") });
    await redis.call("CLIENT", "PAUSE", "3000", "ALL");
    redis.disconnect();
    await chat.send({ body: chatBody() });
    const during = await scrape();
    expect(sumOf(during, METRICS.redisOut.name)).toBe(1);
    const errors = { operation: "admit" };
    expect(sumOf(during, METRICS.redisErrors.name, errors)).toBeGreaterThan(
      sumOf(before, METRICS.redisErrors.name, errors),
    );
    await waitFor(
      "Redis to be back",
      async () => {
        await chat.send({ body: chatBody() });
        return sumOf(await scrape(), METRICS.redisOut.name) === 0;
      },
      { timeoutMs: 20_000, intervalMs: 200 },
    );
    await waitFor(
      "the spool to be empty",
      async () => {
        const page = await scrape();
        return sumOf(page, METRICS.spoolBytes.name) + sumOf(page, METRICS.unacknowledged.name) === 0;
      },
      { timeoutMs: 20_000, intervalMs: 100 },
    );
  });

  it("counts requests that an Envoy without ext_authz lets through to ext_proc", async () => {
    const envoy = await startSideEnvoy({
      bootstrap: readFileSync(join(chat.stack.dir, "run/envoy.yaml"), "utf8"),
      dir: chat.stack.dir,
      name: "open",
      edit: ({ manager }) => {
        const filters = manager["http_filters"] as { name: string }[];
        manager["http_filters"] = filters.filter(({ name }) => name !== "envoy.filters.http.ext_authz");
      },
    });
    try {
      const answer = await send(envoy.baseUrl, { path: CHAT_PATH, body: chatBody() });
      expect(answer.status).toBe(500);
      expect(sumOf(await scrape(), METRICS.unadmitted.name)).toBe(1);
    } finally {
      await envoy.stop();
    }
  });
});
