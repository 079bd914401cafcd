import { readdirSync, readFileSync, statSync } from "node:fs";
import { Agent } from "node:http";
import { join } from "node:path";
import { type ClientHttp2Session, connect, type IncomingHttpHeaders } from "node:http2";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createKey as makeUpKey, hashKey } from "../../src/data-path/auth/key-format.ts";
import { summarizeError } from "../support/answer-checks.ts";
import { chatBody, withChatStack } from "../support/chat-stack.ts";
import { firstOnPush } from "../support/extent.ts";
import { readError } from "../support/http.ts";
import type { CreatedKey } from "../support/test-key.ts";
import { waitFor } from "../support/wait.ts";
import { tokenOverrides, WITH_AND_WITHOUT_TOKENS } from "../support/with-and-without-tokens.ts";
import { sendRaw } from "./edge/raw-client.ts";
import { type RedisMonitor, startMonitor } from "./access/redis-monitor.ts";
import { readEndpoints, readEnvoyAdmin } from "./access/worker-processes.ts";

// On each push the one in which more can go wrong; headers without tokens are keys-headers.test.ts's.
describe.each(firstOnPush(WITH_AND_WITHOUT_TOKENS.toReversed()))("%s", (_name, takesTokens) => {
  const WORKERS = 2;
  const chat = withChatStack(async () => ({
    workers: WORKERS,
    isLauncherOwnProcess: true,
    overrides: await tokenOverrides(takesTokens),
  }));
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  let other: CreatedKey;

  beforeAll(async () => {
    other = await chat.stack.createKey();
  });
  afterAll(() => agent.destroy());

  /** "passes as <key id>", or status and code of the refusal, with whatever breaks the contract in it. */
  async function present(headers: Record<string, string | string[]>): Promise<string> {
    const answer = await chat.stack.send({ path: "/v1/key", key: null, headers });
    if (answer.status === 200) return `passes as ${String(answer.json()["id"])}`;
    const refusal = `${answer.status} ${String(readError(answer).code)}`;
    if (answer.status !== 401) return refusal;
    const { breaches } = summarizeError(answer);
    const { "www-authenticate": challenge, "x-service-ratelimit-remaining": remaining } = answer.headers;
    const isWhole = breaches.length === 0 && challenge === "Bearer" && remaining === "0";
    return isWhole ? refusal : `${refusal} ${breaches.join(", ")} ${challenge} ${String(remaining)}`;
  }

  /** The same key with the case of one letter changed: a typing mistake. */
  function mistype(key: string): string {
    const at = "sk-igw-".length + key.slice("sk-igw-".length).search(/[a-z]/u);
    return key.slice(0, at) + key.charAt(at).toUpperCase() + key.slice(at + 1);
  }

  type Headers = Record<string, string | string[]>;

  describe("a key", () => {
    it.each<{ name: string; headers: (key: string, second: string) => Headers }>([
      { name: "as Bearer", headers: (key) => ({ authorization: `Bearer ${key}` }) },
      { name: "as x-api-key", headers: (key) => ({ "x-api-key": key }) },
      { name: "in both headers", headers: (key) => ({ authorization: `Bearer ${key}`, "x-api-key": key }) },
      { name: "with the scheme in lower case", headers: (key) => ({ authorization: `bearer ${key}` }) },
      { name: "with the scheme in upper case", headers: (key) => ({ authorization: `BEARER ${key}` }) },
      { name: "behind several spaces", headers: (key) => ({ authorization: `Bearer    ${key}` }) },
      { name: "with blanks around it", headers: (key) => ({ "x-api-key": `  ${key}  ` }) },
      {
        name: "as Bearer beside a placeholder in x-api-key",
        headers: (key) => ({ authorization: `Bearer ${key}`, "x-api-key": "placeholder" }),
      },
      {
        name: "as x-api-key beside a placeholder as Bearer",
        headers: (key) => ({ authorization: "Bearer dummy", "x-api-key": key }),
      },
      {
        name: "as x-api-key beside Basic credentials",
        headers: (key) => ({ authorization: "Basic dXNlcjpwYXNzd29yZA==", "x-api-key": key }),
      },
      {
        name: "as x-api-key beside an empty Authorization",
        headers: (key) => ({ authorization: "", "x-api-key": key }),
      },
      {
        name: "as x-api-key beside a mistyped key as Bearer",
        headers: (key) => ({ authorization: `Bearer ${mistype(key)}`, "x-api-key": key }),
      },
    ])("passes $name", async ({ headers }) => {
      expect(await present(headers(chat.key.key, other.key))).toBe(`passes as ${chat.key.id}`);
    });

    it.each<{ name: string; headers: (key: string, second: string) => Headers; refusal: string }>([
      { name: "no header at all", headers: () => ({}), refusal: "401 missing_api_key" },
      {
        name: "an empty Authorization",
        headers: () => ({ authorization: "" }),
        refusal: "401 missing_api_key",
      },
      { name: "spaces only", headers: () => ({ authorization: "    " }), refusal: "401 missing_api_key" },
      { name: "an empty x-api-key", headers: () => ({ "x-api-key": "" }), refusal: "401 missing_api_key" },
      {
        name: "Bearer and nothing behind it",
        headers: () => ({ authorization: "Bearer " }),
        refusal: "401 missing_api_key",
      },
      {
        name: "a key in a cookie alone",
        headers: (key) => ({ cookie: `authorization=Bearer ${key}` }),
        refusal: "401 missing_api_key",
      },
      {
        name: "two different keys",
        headers: (key, second) => ({ authorization: `Bearer ${key}`, "x-api-key": second }),
        refusal: "401 invalid_api_key",
      },
      {
        name: "a good key and a made-up one",
        headers: (key) => ({ authorization: `Bearer ${makeUpKey()}`, "x-api-key": key }),
        refusal: "401 invalid_api_key",
      },
      {
        name: "a key without a scheme",
        headers: (key) => ({ authorization: key }),
        refusal: "401 invalid_api_key",
      },
      {
        name: "Basic credentials",
        headers: (key) => ({ authorization: `Basic ${key}` }),
        refusal: "401 invalid_api_key",
      },
      {
        name: "a key with its scheme as x-api-key",
        headers: (key) => ({ "x-api-key": `Bearer ${key}` }),
        refusal: "401 invalid_api_key",
      },
      {
        name: "Authorization twice",
        headers: (key) => ({ authorization: [`Bearer ${key}`, `Bearer ${key}`] }),
        refusal: "401 invalid_api_key",
      },
      {
        name: "x-api-key twice",
        headers: (key) => ({ "x-api-key": [key, key] }),
        refusal: "401 invalid_api_key",
      },
      {
        name: "text behind the key",
        headers: (key) => ({ authorization: `Bearer ${key} x` }),
        refusal: "401 invalid_api_key",
      },
      {
        name: "a letter too many",
        headers: (key) => ({ authorization: `Bearer ${key}x` }),
        refusal: "401 invalid_api_key",
      },
      {
        name: "a letter too few",
        headers: (key) => ({ authorization: `Bearer ${key.slice(0, -1)}` }),
        refusal: "401 invalid_api_key",
      },
      {
        name: "a letter in the wrong case",
        headers: (key) => ({ authorization: `Bearer ${mistype(key)}` }),
        refusal: "401 invalid_api_key",
      },
      {
        name: "a value of 50 kB",
        headers: (key) => ({ authorization: `Bearer ${key}${"x".repeat(50_000)}` }),
        refusal: "401 invalid_api_key",
      },
      {
        name: "a value of 64 kB",
        headers: (key) => ({ authorization: `Bearer ${key}${"x".repeat(65_536)}` }),
        refusal: "431 request_header_fields_too_large",
      },
      {
        name: "a made-up key",
        headers: () => ({ authorization: `Bearer ${makeUpKey()}` }),
        refusal: "401 invalid_api_key",
      },
      {
        name: "letters that are not ASCII",
        headers: (key) => ({ authorization: `Bearer ${key}é` }),
        refusal: "401 invalid_api_key",
      },
    ])("does not pass: $name", async ({ headers, refusal }) => {
      expect(await present(headers(chat.key.key, other.key))).toBe(refusal);
    });

    it.each([
      { name: "UTF-8", bytes: Buffer.from("ключ") },
      { name: "bytes that are no UTF-8", bytes: Buffer.from([0xff, 0xfe, 0xc3]) },
    ])("does not pass with $name in its header", async ({ bytes }) => {
      const { port } = new URL(chat.stack.baseUrl);
      const head = Buffer.from(`GET /v1/key HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${chat.key.key}`);
      const answer = await sendRaw(Number(port), Buffer.concat([head, bytes, Buffer.from("\r\n\r\n")]));
      expect(answer.status).toBe(401);
      expect(answer.body).toContain('"code":"invalid_api_key"');
    });

    it("does not pass in the query", async () => {
      const answer = await chat.stack.send({
        path: `/v1/key?api_key=${chat.key.key}&key=${chat.key.key}`,
        key: null,
      });
      expect(readError(answer).code).toBe("missing_api_key");
    });

    it("is named in no answer", async () => {
      const wrong = mistype(chat.key.key);
      const answer = await chat.stack.send({ path: "/v1/key", key: wrong });
      expect([answer.text, ...answer.rawHeaders].join("\n")).not.toContain(wrong);
    });
  });

  describe("look-ups in Redis", () => {
    let monitor: RedisMonitor;
    beforeAll(async () => {
      monitor = await startMonitor(join(chat.stack.dir, "run/redis.sock"));
    });
    afterAll(() => monitor.stop());

    const sendMany = async (key: string, count: number): Promise<Set<number>> => {
      const answers = await Promise.all(
        Array.from({ length: count }, () => chat.stack.send({ path: "/v1/models", key, agent })),
      );
      await monitor.catchUp();
      return new Set(answers.map((answer) => answer.status));
    };

    it("are not made for a key with a wrong checksum", async () => {
      const wrong = mistype(chat.key.key);
      expect(await sendMany(wrong, 40)).toEqual(new Set([401]));
      expect(monitor.find(hashKey(wrong))).toEqual([]);
    });

    it("are made at most once per worker for a made-up key that is sent again and again", async () => {
      const madeUp = makeUpKey();
      for (let request = 0; request < 40; request += 1) await sendMany(madeUp, 1);
      const commands = monitor.find(hashKey(madeUp));
      expect(new Set(commands.map((words) => words[0]?.toLowerCase()))).toEqual(new Set(["get"]));
      expect(commands.length).toBeLessThanOrEqual(WORKERS);
    });

    it("are made once per worker for a key, and each request is admitted by one call", async () => {
      const { key, id } = await chat.stack.createKey();
      for (let request = 0; request < 60; request += 1) await chat.stack.send({ path: "/v1/models", key });
      await monitor.catchUp();
      const lookUps = monitor.find(hashKey(key)).filter((words) => words[0]?.toLowerCase() === "get");
      expect(lookUps.length).toBeGreaterThan(0);
      expect(lookUps.length).toBeLessThanOrEqual(WORKERS);
      expect(monitor.findAdmissions(id)).toHaveLength(60);
    });

    it("see the key's SHA-256 and never the key", async () => {
      const { key } = await chat.stack.createKey();
      await sendMany(key, 1);
      const sent = monitor.commands.flat();
      expect(sent.filter((word) => word.includes(hashKey(key)))).not.toEqual([]);
      expect(sent.filter((word) => word.includes(key.slice(7, -6)))).toEqual([]);
    });
  });

  describe("the key itself", () => {
    it("is kept nowhere: not in Redis, no log, no configuration of Envoy", async () => {
      const organization = await chat.stack.admin("POST", "/api/organizations", {
        name: "Secrecy",
        currency: "USD",
      });
      const keys = `/api/organizations/${String(organization["id"])}/keys`;
      const created = await chat.stack.admin("POST", keys, { name: "ci" });
      const rotated = await chat.stack.admin("POST", `${keys}/${String(created["id"])}/rotate`, {
        grace_seconds: 60,
      });
      const secrets = [created["key"], rotated["key"], chat.key.key, mistype(chat.key.key)].map(String);
      for (const key of secrets) {
        await chat.send({ key, body: chatBody() });
        await chat.send({ key, body: chatBody({ stream: true }) });
        await chat.send({
          key: null,
          headers: { "x-api-key": key },
          path: "/v1/messages",
          body: chatBody({ max_tokens: 5 }),
        });
        await chat.send({ key, path: "/v1/nothing", body: "{" });
      }
      const { dir } = chat.stack;
      const calls = (await readEndpoints(join(dir, "run"))).map((endpoint) => endpoint.calls > 0);
      expect(calls).toEqual(Array.from({ length: WORKERS }, () => true));
      const accessLog = join(dir, "data/logs/access.log");
      // Envoy writes it every ten seconds.
      await waitFor("the access log", () => readFileSync(accessLog, "utf8").includes("/v1/nothing"), {
        timeoutMs: 20_000,
      });
      const texts = [
        ...readFiles(join(dir, "data")),
        ...readFiles(join(dir, "run")),
        { path: "/config_dump", text: await readEnvoyAdmin(join(dir, "run"), "/config_dump") },
        { path: "/clusters", text: await readEnvoyAdmin(join(dir, "run"), "/clusters") },
        { path: "stderr", text: chat.stack.stderr },
      ];
      const appendOnly = texts.filter(({ path }) => path.includes("/redis/")).map(({ text }) => text);
      expect(appendOnly.join("")).toContain(hashKey(String(rotated["key"])));
      expect(texts.some(({ path }) => path.endsWith("gateway.log"))).toBe(true);
      for (const { path, text } of texts) {
        const shown = secrets.filter((key) => text.includes(key.slice(7, -6)));
        expect({ path, shown }).toEqual({ path, shown: [] });
      }
    });
  });

  /** Every regular file under a folder. */
  function readFiles(folder: string): { path: string; text: string }[] {
    return readdirSync(folder, { recursive: true, encoding: "utf8" })
      .map((name) => join(folder, name))
      .filter((path) => statSync(path).isFile())
      .map((path) => ({ path, text: readFileSync(path, "latin1") }));
  }

  let session: ClientHttp2Session;

  beforeAll(() => {
    session = connect(chat.stack.baseUrl, { maxSendHeaderBlockLength: 1_000_000 });
  });
  afterAll(() => session.close());

  /** Status and error code of `GET /v1/key`, or the error with which its stream ended. */
  async function presentOverHttp2(headers: Record<string, string | string[]>): Promise<string> {
    return new Promise((resolve) => {
      const stream = session.request({ ":path": "/v1/key", ...headers });
      let text = "";
      let status = "";
      stream.setEncoding("utf8").on("data", (part: string) => (text += part));
      stream.on("response", (head: IncomingHttpHeaders & { ":status"?: number }) => {
        status = `${head[":status"]} ${String(head["x-service-ratelimit-remaining"] !== undefined)}`;
      });
      stream.on("error", (error: NodeJS.ErrnoException) => resolve(String(error.code)));
      stream.on("end", () => {
        const { error } = JSON.parse(text) as { error?: { code: string } };
        resolve(`${status} ${error?.code ?? "passes"}`);
      });
      stream.end();
    });
  }

  // It has no text on the wire to go wrong, but limits of its own.
  describe("a key over HTTP/2", () => {
    it.each([
      { name: "as Bearer", headers: (key: string) => ({ authorization: `Bearer ${key}` }) },
      { name: "as x-api-key", headers: (key: string) => ({ "x-api-key": key }) },
    ])("passes $name", async ({ headers }) => {
      expect(await presentOverHttp2(headers(chat.key.key))).toBe("200 true passes");
    });

    it.each([
      { name: "no key", headers: () => ({}), refusal: "401 true missing_api_key" },
      {
        name: "x-api-key twice",
        headers: (key: string) => ({ "x-api-key": [key, key] }),
        refusal: "401 true invalid_api_key",
      },
      {
        name: "a value of 50 kB",
        headers: () => ({ "x-api-key": "x".repeat(50_000) }),
        refusal: "401 true invalid_api_key",
      },
    ])("does not pass: $name", async ({ headers, refusal }) => {
      expect(await presentOverHttp2(headers(chat.key.key))).toBe(refusal);
    });

    it("of 64 kB ends its stream, for which HTTP/2 has no answer, and leaves the connection to the others", async () => {
      expect(await presentOverHttp2({ "x-api-key": "x".repeat(65_536) })).toBe("ERR_HTTP2_STREAM_ERROR");
      expect(await presentOverHttp2({ "x-api-key": chat.key.key })).toBe("200 true passes");
    });
  });
});
