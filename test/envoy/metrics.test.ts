import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { METRICS } from "../../src/shared/telemetry/metric-definitions.ts";
import { chatBody, withChatStack } from "../support/chat-stack.ts";
import { readError, send } from "../support/http.ts";
import { parseMetrics, type Sample, sumOf } from "../support/metrics-page.ts";
import {
  finishChunk,
  openaiError,
  type ScriptedAnswer,
  textChunk,
  textCompletion,
  usageChunk,
} from "../support/scripted-answer.ts";
import { waitFor } from "../support/wait.ts";
import { costOf, MESSAGES_PATH, messagesBody, METERED_CATALOG } from "./metering-figures.ts";
import { monthLimits } from "../support/month-limits.ts";

const SECRETS = {
  upstream: "sk-upstream-4f8b2c6d9e1a",
  smtp: "smtp-password-7391",
  metrics: "metrics-token-5d2c",
};
const chat = withChatStack((upstream) => ({
  upstreams: [{ name: "local", url: upstream.url, path_prefix: "/v1", credential: { env: "T_UPSTREAM" } }],
  catalog: METERED_CATALOG,
  workers: 2,
  overrides: {
    notifications: {
      smtp: { url: "smtp://127.0.0.1:9", username: "u", password: { env: "T_SMTP" }, from: "a@example.com" },
    },
    telemetry: { metrics_token: { env: "T_METRICS" }, log_level: "debug" },
  },
  env: { T_UPSTREAM: SECRETS.upstream, T_SMTP: SECRETS.smtp, T_METRICS: SECRETS.metrics },
}));

async function scrape(): Promise<Sample[]> {
  const answer = await send(chat.stack.adminUrl, {
    path: "/metrics",
    headers: { authorization: `Bearer ${SECRETS.metrics}` },
  });
  expect(answer.status).toBe(200);
  return parseMetrics(answer.text);
}

/** Everything that was written under the folder of logs. */
function readAllLogs(): string {
  const dir = join(chat.stack.dir, "data/logs");
  return readdirSync(dir)
    .map((name) => readFileSync(join(dir, name), "utf8"))
    .join("\n");
}

describe("GET /metrics under load", () => {
  it("tells the same requests, tokens and spend as the upstream counted, over all workers", async () => {
    const key = await chat.stack.createKey();
    let index = 0;
    chat.upstream.answer((request): ScriptedAnswer => {
      index += 1;
      const usage = { promptTokens: 50 + index, cachedTokens: index % 7, completionTokens: 1 + (index % 9) };
      if (request.body?.["stream"] !== true) return { kind: "json", body: textCompletion("hello", usage) };
      return { kind: "events", events: [textChunk("a"), textChunk("b"), finishChunk(), usageChunk(usage)] };
    });
    const total = 120;
    const answers = await Promise.all(
      Array.from({ length: total }, (_, position) => {
        const stream = position % 2 === 0;
        return position % 3 === 0
          ? chat.send({ key: key.key, path: MESSAGES_PATH, body: messagesBody({ stream }) })
          : chat.send({ key: key.key, body: chatBody({ stream }) });
      }),
    );
    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
    const reported = chat.upstream.totalReported();
    const metered = { organization_id: key.organizationId };
    const samples = await waitFor("all requests to be counted", async () => {
      const page = await scrape();
      const counted = sumOf(page, "inference_gateway_requests_total", { status: "200" });
      return counted >= total && page;
    });
    expect(sumOf(samples, METRICS.requests.name, { route: "messages", status: "200" })).toBe(total / 3);
    expect(sumOf(samples, METRICS.requests.name, { status: "200" })).toBe(total);
    expect(sumOf(samples, METRICS.spend.name, metered)).toBe(Number(costOf(reported)));
    expect(sumOf(samples, METRICS.tokens.name, { type: "output" })).toBe(reported.completionTokens);
    expect(sumOf(samples, METRICS.tokens.name, { type: "cached_input" })).toBe(reported.cachedTokens);
    expect(sumOf(samples, METRICS.tokens.name, { type: "input" })).toBe(
      reported.promptTokens - reported.cachedTokens,
    );
    expect(sumOf(samples, `${METRICS.duration.name}_count`)).toBe(total);
    expect(sumOf(samples, `${METRICS.firstToken.name}_count`)).toBe(total / 2);
    expect(sumOf(samples, `${METRICS.authz.name}_count`)).toBeGreaterThanOrEqual(total);
    expect(sumOf(samples, `${METRICS.requestBody.name}_count`)).toBe(total);
    expect(sumOf(samples, METRICS.workersReporting.name)).toBe(2);
    expect(sumOf(samples, METRICS.unadmitted.name)).toBe(0);
    await waitFor(
      "no request to be open",
      async () => sumOf(await scrape(), METRICS.requestsInFlight.name) === 0,
    );
  });

  it("has no label that an upstream made up as its error's code", async () => {
    const key = await chat.stack.createKey();
    let made = 0;
    chat.upstream.answer((): ScriptedAnswer => {
      made += 1;
      return { kind: "json", status: 400, body: { error: { message: "no", code: `made_up_${made}` } } };
    });
    for (let sent = 0; sent < 5; sent += 1) {
      const answer = await chat.send({ key: key.key, body: chatBody() });
      expect(readError(answer).code).toMatch(/^made_up_\d$/);
    }
    const labels = { status: "400", code: "invalid_parameter" };
    const page = await waitFor("all of them to be counted", async () => {
      const samples = await scrape();
      return sumOf(samples, METRICS.requests.name, labels) >= 5 && samples;
    });
    expect(JSON.stringify(page)).not.toContain("made_up");
  });

  it("has every metric of the table, and none that is not in it", async () => {
    const answer = await send(chat.stack.adminUrl, {
      path: "/metrics",
      headers: { authorization: `Bearer ${chat.stack.adminToken}` },
    });
    const named = Array.from(answer.text.matchAll(/^# TYPE (\w+) /gm), ([, name = ""]) => name);
    expect(named.sort()).toEqual(
      Object.values(METRICS)
        .map(({ name }) => name)
        .sort(),
    );
  });

  it("counts refusals by the limit that refused, and errors by their code", async () => {
    const before = await scrape();
    const capped = await chat.stack.createKey({ limits: monthLimits({ cap: 0 }) });
    const slow = await chat.stack.createKey({ requestsPerMinute: 1 });
    expect((await chat.send({ key: capped.key, body: chatBody() })).status).toBe(402);
    const trial = await chat.stack.createKey({}, { limits: [{ period: "week", kind: "cap", cents: 0 }] });
    expect((await chat.send({ key: trial.key, body: chatBody() })).status).toBe(402);
    const statuses = await Promise.all(
      Array.from(
        { length: 12 },
        async () => (await chat.stack.send({ key: slow.key, path: "/v1/models" })).status,
      ),
    );
    chat.upstream.answerNext({ kind: "json", status: 500, body: openaiError("boom") });
    expect((await chat.send({ body: chatBody() })).status).toBe(502);
    const after = await scrape();
    const grown = (name: string, labels: Record<string, string>) =>
      sumOf(after, name, labels) - sumOf(before, name, labels);
    expect(grown(METRICS.refusals.name, { reason: "key_cap", period: "month" })).toBe(1);
    expect(grown(METRICS.refusals.name, { reason: "organization_cap", period: "week" })).toBe(1);
    expect(grown(METRICS.refusals.name, { reason: "bucket" })).toBe(
      statuses.filter((status) => status === 429).length,
    );
    expect(grown(METRICS.requests.name, { status: "502", code: "upstream_error" })).toBe(1);
    expect(grown(METRICS.requests.name, { route: "models", status: "200" })).toBe(10);
  });

  it("is refused without the token", async () => {
    const answer = await send(chat.stack.adminUrl, { path: "/metrics" });
    expect(answer.status).toBe(401);
  });
});

describe("worker restarts", () => {
  it("never make a counter go back, and are counted", async () => {
    const before = await scrape();
    const ready = /"workers":\[(\d+),(\d+)\]/.exec(readAllLogs());
    process.kill(Number(ready?.[1]), "SIGKILL");
    const after = await waitFor(
      "the restart to be counted",
      async () => {
        const page = await scrape();
        return sumOf(page, METRICS.workerRestarts.name) === 1 && page;
      },
      { timeoutMs: 20_000 },
    );
    for (const { name } of [METRICS.requests, METRICS.spend, METRICS.tokens]) {
      expect(sumOf(after, name)).toBeGreaterThanOrEqual(sumOf(before, name));
    }
  });
});

describe("logs", () => {
  it("have one line for each request at level debug, with who, what, cost and times", async () => {
    const key = await chat.stack.createKey();
    chat.upstream.answerNext({
      kind: "json",
      body: textCompletion("hi", { promptTokens: 10, cachedTokens: 0, completionTokens: 5 }),
    });
    const answer = await chat.send({ key: key.key, body: chatBody() });
    const id = answer.headers["x-request-id"];
    const line = await waitFor("the request's line", () =>
      readAllLogs()
        .split("\n")
        .find((text) => text.includes('"msg":"request"') && text.includes(String(id))),
    );
    expect(JSON.parse(line)).toMatchObject({
      request_id: id,
      key_id: key.id,
      organization_id: key.organizationId,
      route: "chat_completions",
      model: "acme/echo-small",
      status: 200,
      error_code: null,
      input_tokens: 10,
      output_tokens: 5,
      cost_microcents: "7500",
    });
  });

  it("hold no secret of any kind, whatever went wrong", async () => {
    const key = await chat.stack.createKey();
    const bearers = [
      key.key,
      `${key.key.slice(0, -1)}x`,
      "sk-igw-short",
      "sk-ant-api03-abcdefghijklmnopqrst",
    ];
    for (const bearer of bearers) {
      await chat.send({ key: bearer, body: chatBody() });
      await chat.stack.send({ key: bearer, path: `/v1/models?key=${bearer}` });
    }
    chat.upstream.answerNext({ kind: "json", status: 401, body: openaiError(`bad key ${SECRETS.upstream}`) });
    await chat.send({ key: key.key, body: chatBody() });
    await chat.stack.admin("PUT", "/api/log-level", { level: "trace" });
    const organization = `/api/organizations/${key.organizationId}`;
    const webhookAt = (url: string) =>
      chat.stack.admin("PATCH", organization, { notifications: { webhook: { url } } });
    await webhookAt("https://user-7:pass-9@hooks.example.com/x").catch(() => undefined);
    const changed = await webhookAt("https://hooks.example.com/x");
    const made = await chat.stack.admin("POST", `${organization}/tokens`, { name: "t", role: "viewer" });
    await chat.stack.admin("PUT", "/api/log-level", { level: "info" });
    const secret = /whsec_[^"]+/.exec(JSON.stringify(changed))?.[0];
    const known = [
      ...bearers.slice(0, 2),
      ...Object.values(SECRETS),
      chat.stack.adminToken,
      chat.stack.demoKey,
    ];
    const all = [...known, String(made["token"]), String(secret), "pass-9"];
    expect(all.filter((text) => text.length < 6 || text === "undefined")).toEqual([]);
    const logs = readAllLogs();
    expect(all.filter((text) => logs.includes(text))).toEqual([]);
  });

  it("follow the level that the operator sets, on every worker", async () => {
    await chat.stack.admin("PUT", "/api/log-level", { level: "info" });
    expect(await chat.stack.admin("GET", "/api/log-level")).toEqual({ level: "info" });
    const answers = await Promise.all(Array.from({ length: 8 }, () => chat.send({ body: chatBody() })));
    await chat.stack.admin("PUT", "/api/log-level", { level: "debug" });
    const ids = answers.map((answer) => String(answer.headers["x-request-id"]));
    const lines = () => readFileSync(join(chat.stack.dir, "data/logs/gateway.log"), "utf8");
    const last = await chat.send({ body: chatBody() });
    await waitFor("a line at debug", () => lines().includes(String(last.headers["x-request-id"])));
    expect(ids.filter((id) => lines().includes(id))).toEqual([]);
  });
});
