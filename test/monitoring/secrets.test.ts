/** A corpus of secrets, real failures around each of them at the finest log level, and a search of all that comes out. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { callCli } from "../cli/call-cli.ts";
import { chatBody, CHAT_PATH } from "../support/chat-stack.ts";
import { type HttpAnswer, send } from "../support/http.ts";
import { cookieOf, createPageClient, formTokenOf } from "../support/page-client.ts";
import { type PrivateRedis, startRedis } from "../support/redis.ts";
import { type RedisProxy, startRedisProxy } from "../support/redis-proxy.ts";
import { openaiError, textCompletion } from "../support/scripted-answer.ts";
import { createTestAuthority } from "../support/tls.ts";
import { type ScriptedUpstream, startUpstream } from "../support/upstream.ts";
import { waitFor } from "../support/wait.ts";
import { withStack } from "../support/with-stack.ts";
import { type LeakyServer, startLeakyMailServer, startLeakyWebhook } from "./leaky-servers.ts";
import { forms, readFiles } from "./search-outputs.ts";

const PLANTED = {
  T_UPSTREAM: "upstream-credential-4f8b2c6d",
  T_SMTP: "smtp-pass-word-7391",
  T_METRICS: "metrics-token-5d2c91",
  T_REDIS: "redis-pass-word-2846",
};
/** In a webhook's path and query, as many receivers have it. */
const HOOK_TOKENS = ["hook-path-token-8842", "hook-query-token-5519"];
const CLIENT_COOKIE = "session-of-another-site-6627";
const PROMPT = "a-prompt-that-nobody-reads-1193";

const files = mkdtempSync(join(tmpdir(), "igw-keys-"));
let upstream: ScriptedUpstream;
let mail: LeakyServer;
let hook: LeakyServer;
let redis: PrivateRedis;
let proxy: RedisProxy;
let privateKey = "";
const getStack = withStack(async () => {
  [upstream, mail, hook, redis] = await Promise.all([
    startUpstream(),
    startLeakyMailServer(),
    startLeakyWebhook(),
    startRedis({ appendOnly: true }),
  ]);
  proxy = await startRedisProxy(redis.url);
  await orderRedis(null, ["CONFIG", "SET", "requirepass", PLANTED.T_REDIS]);
  const authority = await createTestAuthority();
  const keyPair = await authority.issue("localhost", ["IP:127.0.0.1"]);
  await authority.close();
  privateKey = keyPair.key.split("\n")[1] ?? "";
  await writeFile(join(files, "tls.key"), keyPair.key, { mode: 0o600 });
  await writeFile(join(files, "tls.crt"), keyPair.cert);
  return {
    upstreams: [{ name: "local", url: upstream.url, path_prefix: "/v1", credential: { env: "T_UPSTREAM" } }],
    overrides: {
      redis: { url: proxy.url, password: { env: "T_REDIS" } },
      notifications: {
        smtp: {
          url: `smtp://127.0.0.1:${mail.port}`,
          username: "gateway",
          password: { env: "T_SMTP" },
          from: "a@example.com",
        },
        webhooks: { allow_private_networks: true },
      },
      telemetry: { metrics_token: { env: "T_METRICS" }, log_level: "trace" },
    },
    env: PLANTED,
  };
});
afterAll(async () => {
  mail.close();
  hook.close();
  await upstream.close();
  await proxy.close();
  await redis.stop();
  rmSync(files, { recursive: true, force: true });
});

async function orderRedis(password: string | null, ...commands: readonly string[][]): Promise<void> {
  const path = new URL(redis.url).pathname;
  const client = new Redis({ path, protocol: 2, ...(password === null ? {} : { password }) });
  client.on("error", () => undefined);
  for (const [name = "", ...args] of commands) await client.call(name, ...args).catch(() => undefined);
  client.disconnect();
}

/** What must be found nowhere, by what it is. */
const secrets = new Map<string, string>(Object.entries(PLANTED));
/** All that programs and answers gave out, by where. */
const outputs = new Map<string, string>();
const keep = (where: string, text: string): void =>
  void outputs.set(where, (outputs.get(where) ?? "") + text);
const keepAnswer = (where: string, answer: HttpAnswer): HttpAnswer => {
  keep(where, `${answer.text}\n${JSON.stringify(answer.headers)}\n`);
  return answer;
};

let organization = "";
let key = "";

/** The management API as the operator; what it answers is kept, but for what it shows once. */
async function call(method: string, path: string, body?: object, shownOnce?: string): Promise<string> {
  const answer = await send(getStack().adminUrl, {
    method,
    path,
    headers: { authorization: `Bearer ${getStack().adminToken}` },
    ...(body === undefined ? {} : { body }),
  });
  const secret =
    shownOnce === undefined ? null : new RegExp(`"${shownOnce}":"([^"]+)"`).exec(answer.text)?.[1];
  if (shownOnce !== undefined && secret === undefined) throw new Error(`${path}: ${answer.text}`);
  keep(`${method} ${path}`, answer.text.replaceAll(secret ?? "\n", ""));
  return secret ?? (JSON.parse(answer.text || "{}") as { id?: string }).id ?? "";
}

const chat = (bearer: string, headers: Record<string, string> = {}) =>
  send(getStack().baseUrl, {
    path: CHAT_PATH,
    headers: { authorization: `Bearer ${bearer}`, cookie: `site=${CLIENT_COOKIE}`, ...headers },
    body: chatBody({}, PROMPT),
  });

beforeAll(async () => {
  organization = await call("POST", "/api/organizations", {
    name: "Acme",
    currency: "USD",
    budget_cents: 10,
  });
  const path = `/api/organizations/${organization}`;
  key = await call("POST", `${path}/keys`, { name: "ci" }, "key");
  secrets.set("an API key", key);
  secrets.set(
    "an organization's token",
    await call("POST", `${path}/tokens`, { name: "t", role: "admin" }, "token"),
  );
  secrets.set("the operator's token", getStack().adminToken);
  secrets.set("the demo key", getStack().demoKey);
  const url = `http://127.0.0.1:${hook.port}/in/${HOOK_TOKENS[0]}?token=${HOOK_TOKENS[1]}`;
  const notifications = { emails: ["a@example.com"], webhook: { url } };
  secrets.set("a webhook's secret", await call("PATCH", path, { notifications }, "secret"));
  secrets.set("a client's cookie", CLIENT_COOKIE);
  secrets.set("a prompt", PROMPT);
  secrets.set("a private key", privateKey);
});

describe("a real failure around each secret", () => {
  beforeEach(() => {
    const usage = { promptTokens: 1, cachedTokens: 0, completionTokens: 1 };
    upstream.answer({ kind: "json", body: textCompletion("hello", usage) });
  });

  it("is made with API keys: wrong, unknown, in the path, and beside cookies", async () => {
    const unknown = `${key.slice(0, -8)}AAAAAAAA`;
    secrets.set("a mistyped key", unknown);
    for (const bearer of [unknown, "sk-ant-api03-abcdefghijklmnopqrst"]) {
      expect(keepAnswer("chat", await chat(bearer)).status).toBe(401);
      keepAnswer("chat", await chat(key, { "x-api-key": getStack().demoKey }));
    }
    keepAnswer(
      "path",
      await send(getStack().baseUrl, { path: `/v1/requests/${key}`, headers: { "x-api-key": key } }),
    );
    secrets.set("another vendor's key", "sk-ant-api03-abcdefghijklmnopqrst");
  });

  it("is made with an API key where a model, a user-agent, a field or a whole body should be", async () => {
    const sendBody = (body: object | string, headers: Record<string, string> = {}) =>
      send(getStack().baseUrl, {
        path: CHAT_PATH,
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
        body,
      });
    const answers = await Promise.all([
      sendBody(chatBody({ model: key })),
      sendBody(chatBody({}), { "user-agent": `curl/8 ${key}` }),
      sendBody(chatBody({ [key]: 1, max_tokens: key })),
      sendBody(chatBody({ messages: key })),
      sendBody(`"${key}`),
      sendBody(chatBody({}), { "content-type": `text/${key}` }),
      sendBody(chatBody({}), { "x-request-id": key }),
      sendBody(chatBody({ user: key })),
      sendBody(chatBody({}), { "x-tags": `team=${key}` }),
    ]);
    // Its own client is told what it sent; nobody else is.
    expect(answers.map(({ status }) => status)).toEqual([400, 200, 400, 400, 400, 200, 200, 200, 400]);
  });

  it("is made with the upstream's credential, which the upstream repeats", async () => {
    for (const status of [400, 401, 500]) {
      const body = openaiError(
        `bad key ${String(upstream.requests.at(-1)?.headers.authorization)} ${PLANTED.T_UPSTREAM}`,
      );
      upstream.answerNext({ kind: "json", status: status === 400 ? 401 : status, body });
      expect(keepAnswer("chat", await chat(key)).status).toBe(502);
    }
  });

  it("is made with the mail server's password, a webhook's secret, and the tokens in its URL", async () => {
    const usage = { promptTokens: 100_000, cachedTokens: 0, completionTokens: 1 };
    upstream.answerNext({ kind: "json", body: textCompletion("hello", usage) });
    expect((await chat(key)).status).toBe(200);
    await waitFor("both channels to be tried twice", () => mail.calls >= 2 && hook.calls >= 2, {
      timeoutMs: 30_000,
    });
    await call("POST", `/api/organizations/${organization}/webhook/test`, {});
    await call("GET", `/api/organizations/${organization}/alerts`);
  });

  it("is made with sessions: cookies and forms that are not theirs", async () => {
    const pages = createPageClient(getStack().adminUrl);
    const token = String(secrets.get("an organization's token"));
    keepAnswer("sign-in", await pages.signIn("igw_op_wrong-operator-token-3321"));
    secrets.set("a wrong operator token", "igw_op_wrong-operator-token-3321");
    const cookie = cookieOf(await pages.signIn(token));
    secrets.set("a session's cookie", cookie.replace(/^[^=]+=/, ""));
    const path = `/organizations/${organization}/tokens`;
    secrets.set("a form's token", formTokenOf(await pages.get(path, cookie)));
    const form = { form_token: "not-the-form-s-token", name: "x" };
    expect(keepAnswer("form", await pages.post(path, form, { cookie })).status).toBe(403);
    keepAnswer("form", await pages.post(path, form, { cookie: `${cookie}x` }));
  });

  it("is made with Redis's password, while it is another", async () => {
    const { T_REDIS } = PLANTED;
    await orderRedis(
      T_REDIS,
      ["CONFIG", "SET", "requirepass", "changed"],
      ["CLIENT", "KILL", "TYPE", "normal"],
    );
    const doctor = () => callCli(["doctor", "--config", getStack().configFile], { env: PLANTED });
    const refused = await doctor();
    expect(refused.stdout).toContain("redis.reachable");
    keep("doctor", refused.stdout + refused.stderr);
    keepAnswer("chat", await chat(key));
    await orderRedis("changed", ["CONFIG", "SET", "requirepass", T_REDIS]);
    await waitFor("requests to be served again", async () => (await chat(key)).status === 200, {
      timeoutMs: 30_000,
      intervalMs: 200,
    });
    const { stdout, stderr } = await doctor();
    expect(stdout).toContain("smtp");
    keep("doctor", stdout + stderr);
  });

  it("is made with a private key that is not the certificate's, where commands read both", async () => {
    const other = await createTestAuthority();
    const { cert } = await other.issue("localhost", ["IP:127.0.0.1"]);
    await other.close();
    await writeFile(join(files, "other.crt"), cert);
    const config = readFileSync(getStack().configFile, "utf8");
    const tls = `tls: { cert_file: ${join(files, "other.crt")}, key_file: ${join(files, "tls.key")} }`;
    const file = join(getStack().dir, "tls.yaml");
    await writeFile(file, config.replace(/^listen:\n/m, `listen:\n  ${tls}\n`));
    for (const args of [["config", "check"], ["envoy", "render"], ["doctor"]]) {
      const { stdout, stderr } = await callCli([...args, "--config", file], { env: PLANTED });
      expect(stdout + stderr).not.toBe("");
      keep(args.join(" "), stdout + stderr);
    }
  });
});

describe("what the gateway gives out", () => {
  beforeAll(async () => {
    const { dir, adminUrl, adminToken, configFile, child } = getStack();
    keep("logs", readFiles(join(dir, "data/logs")));
    keep("the request log", readFiles(join(dir, "data/requests")));
    keep("the launcher", child.stderr);
    const headers = { authorization: `Bearer ${PLANTED.T_METRICS}` };
    keepAnswer("metrics", await send(adminUrl, { path: "/metrics", headers }));
    const path = `/api/organizations/${organization}`;
    for (const part of ["", "/keys", "/tokens", "/audit", "/alerts", "/usage"]) {
      await call("GET", `${path}${part}`);
    }
    const requests = await send(adminUrl, {
      path: `${path}/requests`,
      headers: { authorization: `Bearer ${adminToken}` },
    });
    keepAnswer("requests", requests);
    const { data } = requests.json() as { data: { id: string }[] };
    const environment = { IGW_ADMIN_URL: adminUrl, IGW_OPERATOR_TOKEN: adminToken, ...PLANTED };
    for (const { id } of data.slice(0, 3)) {
      const { stdout, stderr } = await callCli(["explain", id, "--config", configFile], { env: environment });
      keep("explain", stdout + stderr);
    }
  });

  it("is there at the finest level: each failure has left its line", () => {
    const logs = outputs.get("logs") ?? "";
    expect(logs).toContain("[redacted]");
    expect(logs).toMatch(/upstream failed/);
    expect(logs).toMatch(/WRONGPASS|NOAUTH/);
    expect(outputs.get("doctor")).toMatch(/smtp/);
    expect(outputs.get("explain")).toContain("req_");
  });

  it("holds none of the secrets, in any of its outputs", () => {
    const all = [
      ...secrets,
      ["a token in a webhook's path", HOOK_TOKENS[0]],
      ["one in its query", HOOK_TOKENS[1]],
    ];
    expect(all.filter(([, secret]) => String(secret).length < 8)).toEqual([]);
    const found = all.flatMap(([name, secret]) =>
      [...outputs]
        // An organization's own webhook is shown to whoever manages it.
        .filter(([where]) => !(HOOK_TOKENS.includes(String(secret)) && /^(?:GET|PATCH) \/api/.test(where)))
        .filter(([, text]) => forms(String(secret)).some((form) => text.includes(form)))
        .map(([where]) => `${name} in ${where}`),
    );
    expect(found).toEqual([]);
  });
});
