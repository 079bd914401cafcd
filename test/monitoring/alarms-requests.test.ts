/** Alarms by what becomes of requests and alerts; and the dashboard's queries, on what was scraped meanwhile. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Redis } from "ioredis";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, describe, expect, it } from "vitest";
import { chatBody, CHAT_PATH, withChatStack } from "../support/chat-stack.ts";
import { findFreePort } from "../support/free-port.ts";
import { send } from "../support/http.ts";
import { openaiError, textCompletion } from "../support/scripted-answer.ts";
import { startSideEnvoy } from "../support/side-envoy.ts";
import { startWebhookReceiver, type WebhookReceiver } from "../support/webhook-receiver.ts";
import { createGate, waitFor } from "../support/wait.ts";
import { readDashboard } from "./dashboard.ts";
import { PROMETHEUS, SKIPPED_WHY } from "./find-prometheus.ts";
import { itFires, withPrometheus } from "./watched-stack.ts";
import { monthLimits } from "../support/month-limits.ts";

const MEBIBYTE = 1024 ** 2;
const chat = withChatStack(() => ({
  overrides: {
    limits: { max_body_bytes: MEBIBYTE, max_buffered_bytes: MEBIBYTE },
    notifications: { webhooks: { allow_private_networks: true } },
  },
}));
const prometheus = withPrometheus(() => chat.stack);

/** Between requests: without one they would have a core for themselves. */
const PAUSE_MS = 20;

const askWith = (key: string) => () => chat.send({ key, body: chatBody() });

/** Requests one after the other until `stop`. */
function startTraffic(ask: () => Promise<unknown> = askWith(chat.key.key)): () => Promise<void> {
  const state = { isOver: false };
  const run = async (): Promise<void> => {
    while (!state.isOver) {
      await ask().catch(() => undefined);
      await wait(PAUSE_MS);
    }
  };
  const running = run();
  return async () => {
    state.isOver = true;
    await running;
  };
}
let stopTraffic: () => Promise<void> = async () => undefined;
const gate = createGate();
let receiver: WebhookReceiver | null = null;
afterAll(async () => {
  gate.release();
  await stopTraffic();
  await receiver?.close();
});

/** Traffic through an Envoy from whose filters ext_authz was taken out. One request may fall between late scrapes. */
async function sendPastAuthorization(): Promise<void> {
  const envoy = await startSideEnvoy({
    bootstrap: readFileSync(join(chat.stack.dir, "run/envoy.yaml"), "utf8"),
    dir: chat.stack.dir,
    name: "open",
    edit: ({ manager }) => {
      const filters = manager["http_filters"] as { name: string }[];
      manager["http_filters"] = filters.filter(({ name }) => name !== "envoy.filters.http.ext_authz");
    },
  });
  const ask = () => send(envoy.baseUrl, { path: CHAT_PATH, body: chatBody() });
  const stop = startTraffic(ask);
  stopTraffic = async () => {
    await stop();
    await envoy.stop();
  };
  const { status } = await ask();
  if (status !== 500) throw new Error(`an unadmitted request was answered ${status}`);
}

describe(`with requests that fail${SKIPPED_WHY}`, () => {
  itFires(prometheus, {
    alert: "GatewayUnadmittedRequests",
    when: "an Envoy without ext_authz sends requests to ext_proc",
    provoke: sendPastAuthorization,
    repair: () => stopTraffic(),
  });

  itFires(prometheus, {
    alert: "GatewayServerErrors",
    when: "the upstream answers 500",
    provoke: async () => {
      chat.upstream.answer({ kind: "json", status: 500, body: openaiError("boom") });
      stopTraffic = startTraffic();
    },
    repair: async () => {
      chat.upstream.reset();
      await stopTraffic();
    },
  });

  itFires(prometheus, {
    alert: "GatewayServerErrors",
    when: "the upstream breaks its answers off in the middle",
    provoke: async () => {
      chat.upstream.answer({
        kind: "bytes",
        headers: { "content-type": "application/json", "content-length": "1000" },
        pieces: ['{"id":'],
        ending: "reset",
      });
      stopTraffic = startTraffic();
    },
    repair: async () => {
      chat.upstream.reset();
      await stopTraffic();
    },
  });

  itFires(prometheus, {
    alert: "GatewayUpstreamUnavailable",
    when: "the upstream answers 503",
    provoke: async () => {
      chat.upstream.answer({ kind: "json", status: 503, body: openaiError("loading") });
      stopTraffic = startTraffic();
    },
    repair: async () => {
      chat.upstream.reset();
      await stopTraffic();
    },
  });

  itFires(prometheus, {
    alert: "GatewayTokensRefused",
    when: "a key goes on asking though its tokens of the minute are used up",
    provoke: async () => {
      // A level that is below 0 for longer than the alarm takes.
      const { key } = await chat.stack.createKey({ tokensPerMinute: 1 });
      stopTraffic = startTraffic(askWith(key));
    },
    repair: async () => stopTraffic(),
  });

  itFires(prometheus, {
    alert: "GatewayBodiesRefused",
    when: "more bodies are held at one moment than there is room for",
    provoke: async () => {
      const content = "x".repeat(MEBIBYTE - 2_000);
      // Under strict caps a body is held for as long as its record takes; others go on in the turn in which they came. One
      // organization would be refused beyond its own share, as its own.
      const create = () => chat.stack.createKey({}, { strictCaps: true });
      const keys = await Promise.all(Array.from({ length: 24 }, create));
      await waitFor("a body that is refused", async () => {
        const answers = await Promise.all(
          keys.map(({ key }) => chat.send({ key, body: chatBody({}, content) })),
        );
        return answers.some(({ status }) => status === 503);
      });
    },
    repair: async () => undefined,
  });
});

describe(`with a service tier that nobody has set a price for${SKIPPED_WHY}`, () => {
  itFires(prometheus, {
    alert: "GatewayUnpricedServiceTier",
    when: "an upstream serves it",
    provoke: async () => {
      const usage = { promptTokens: 5, cachedTokens: 0, completionTokens: 1 };
      chat.upstream.answerNext({
        kind: "json",
        body: textCompletion("hello", usage, { service_tier: "flex" }),
      });
      const { status } = await chat.send({ body: chatBody() });
      if (status !== 200) throw new Error(`the request was answered ${status}`);
    },
    repair: async () => undefined,
  });
});

describe(`with alerts that do not arrive${SKIPPED_WHY}`, () => {
  let port = 0;
  let organizationPath = "";
  const readAlert = async () => {
    const { data } = await chat.stack.admin("GET", `${organizationPath}/alerts`);
    return (data as { id: string; deliveries: { webhook: { state: string } } }[])[0];
  };
  /** The gateway looks for what is owed each minute, and whenever it listens anew. */
  const lookNow = async (): Promise<void> => {
    const redis = new Redis({ path: join(chat.stack.dir, "run/redis.sock"), protocol: 2 });
    await redis.call("CLIENT", "KILL", "TYPE", "pubsub");
    redis.disconnect();
  };
  itFires(prometheus, {
    alert: "GatewayAlertsUndelivered",
    when: "nothing listens where an organization's webhook leads",
    provoke: async () => {
      port = await findFreePort();
      const key = await chat.stack.createKey({ limits: monthLimits({ budget: 10 }) });
      organizationPath = `/api/organizations/${key.organizationId}`;
      await chat.stack.admin("PATCH", organizationPath, {
        notifications: { webhook: { url: `http://127.0.0.1:${port}/hook` } },
      });
      // 25 cents.
      const usage = { promptTokens: 100_000, cachedTokens: 0, completionTokens: 1 };
      chat.upstream.answerNext({ kind: "json", body: textCompletion("hello", usage) });
      const { status } = await chat.send({ key: key.key, body: chatBody() });
      if (status !== 200) throw new Error(`the request was answered ${status}`);
      await waitFor("the alert", readAlert);
      await lookNow();
    },
    repair: async () => {
      receiver = await startWebhookReceiver({ port });
      // Now, instead of with the next attempt, which is further away with each that failed.
      const path = `${organizationPath}/alerts/${(await readAlert())?.id}/redeliver`;
      await chat.stack.admin("POST", path, { channels: ["webhook"] });
      await waitFor(
        "the delivery",
        async () => (await readAlert())?.deliveries.webhook.state === "delivered",
      );
      await lookNow();
    },
  });
});

describe(`deploy/grafana/inference-gateway.json${SKIPPED_WHY}`, () => {
  const dashboard = readDashboard();

  it.skipIf(PROMETHEUS === null).each(dashboard.queries)(
    "has a query that Prometheus reads: $panel, $expression",
    async ({ expression }) => {
      await expect(prometheus().query(expression)).resolves.toBeInstanceOf(Array);
    },
  );

  it.skipIf(PROMETHEUS === null)("names only series that were really scraped", async () => {
    // Series that begin with the first streamed answer, and with the first one without usage.
    expect((await chat.send({ body: chatBody({ stream: true }) })).status).toBe(200);
    chat.upstream.answerNext({ kind: "json", body: textCompletion("hello", null) });
    expect((await chat.send({ body: chatBody() })).status).toBe(200);
    // And with the first whose figures contradict each other, at a service tier without a price, with a finish reason that
    // nobody knows and a template that nobody configured.
    const message = { role: "assistant", content: "hello" };
    const choices = [{ index: 0, message, finish_reason: "puzzled" }];
    const usage = { prompt_tokens: 5_000, completion_tokens: 5, total_tokens: 3 };
    chat.upstream.answerNext({
      kind: "json",
      body: textCompletion("hello", null, { usage, choices, service_tier: "flex" }),
    });
    expect((await chat.send({ body: chatBody() })).status).toBe(200);
    expect(dashboard.names.length).toBeGreaterThan(20);
    await waitFor("the last scrape", async () => {
      const series = await prometheus().query('group by (__name__) ({job="inference-gateway"})');
      const existing = new Set(series.map(({ metric }) => metric["__name__"]));
      const missing = dashboard.names.filter((name) => !existing.has(name));
      if (missing.length > 0) throw new Error(`not scraped: ${missing.join(", ")}`);
      return true;
    });
  });

  it.skipIf(PROMETHEUS === null)("names organizations by their names", async () => {
    const panel = dashboard.queries.find(({ panel: title }) => title.startsWith("Spend per hour, ten"));
    const { name } = await chat.stack.admin("GET", `/api/organizations/${chat.key.organizationId}`);
    const listNames = async () =>
      (await prometheus().query(panel?.expression ?? "")).map(({ metric }) => metric["organization"]);
    // An increase needs two scrapes.
    await waitFor("two scrapes of its spend", async () => (await listNames()).length > 0);
    expect(await listNames()).toContain(name);
  });
});
