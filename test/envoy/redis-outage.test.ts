/**
 * Redis is slow, gone, back: what clients get meanwhile, and what upstreams do not get. Without a time of grace
 * (`grace_seconds: 0`), so that each refusal shows.
 */
import { once } from "node:events";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { Agent, type IncomingMessage, request as startRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { parse, stringify } from "yaml";
import { inflightKey, requestBucketKey } from "../../src/data-path/store/redis/keys.ts";
import { summarizeError } from "../support/answer-checks.ts";
import { CHAT_PATH, chatBody } from "../support/chat-stack.ts";
import { startChild } from "../support/child.ts";
import { findFreePort } from "../support/free-port.ts";
import { byExtent } from "../support/extent.ts";
import { type HttpAnswer, readEvents, send, type SendOptions } from "../support/http.ts";
import { runLoad } from "../support/running-load.ts";
import { finishChunk, textChunk } from "../support/scripted-answer.ts";
import { type CreatedKey, createTestKey } from "../support/test-key.ts";
import { type ScriptedUpstream, startUpstream } from "../support/upstream.ts";
import { createGate, waitFor } from "../support/wait.ts";
import { startMonitor } from "./access/redis-monitor.ts";
import { type ServeAlone, startServeAlone } from "./access/serve-alone.ts";
import { findWorker, waitForHealthyWorkers, waitUntilServed } from "./access/worker-processes.ts";

const WORKERS = 3;
const agent = new Agent({ keepAlive: true, maxSockets: 32 });
let upstream: ScriptedUpstream;
let stack: ServeAlone;
let key: CreatedKey;
let redis: Redis;

beforeAll(async () => {
  upstream = await startUpstream();
  stack = await startServeAlone({
    upstreamUrl: upstream.url,
    workers: WORKERS,
    drainSeconds: 2,
    overrides: { settlement: { grace_seconds: 0 } },
  });
  key = await createTestKey(stack.store);
  redis = new Redis(new URL(stack.redis.url).pathname, { retryStrategy: () => 50, protocol: 2 });
  redis.on("error", () => undefined);
  // Every worker knows the key: from here on a request is one command.
  await Promise.all(Array.from({ length: 60 }, () => post()));
});
afterEach(() => upstream.reset());
afterAll(async () => {
  redis.disconnect();
  agent.destroy();
  await stack.stop();
  await upstream.close();
});

function post(options: Partial<SendOptions> & { key?: string } = {}): Promise<HttpAnswer> {
  const { key: presented = key.key, ...rest } = options;
  const headers = { authorization: `Bearer ${presented}` };
  return send(stack.baseUrl, { path: CHAT_PATH, headers, body: chatBody(), agent, ...rest });
}

const UNAVAILABLE = {
  status: 503,
  type: "api_error",
  code: "gateway_unavailable",
  retryAfter: "1",
  breaches: [],
};

function describeRefusal(answer: HttpAnswer): object {
  const { status, type, code, retryAfter, breaches } = summarizeError(answer);
  return { status, type, code, retryAfter, breaches };
}

/** Longer than any test: Redis responds again once the work is done, not after a time. */
const SILENT_MS = "60000";

/** Redis answers no script while the work is done. */
async function whileSilent<T>(work: () => Promise<T>): Promise<T> {
  await redis.call("CLIENT", "PAUSE", SILENT_MS, "WRITE");
  try {
    return await work();
  } finally {
    await redis.call("CLIENT", "UNPAUSE");
  }
}

const waitForWaitingCommands = () =>
  waitFor("commands that wait", async () =>
    String(await redis.call("CLIENT", "LIST")).includes("cmd=evalsha"),
  );

const parseLine = (line: string) => JSON.parse(line) as { suppressed?: number };

describe("the log in an outage", () => {
  it("has one line a second and worker, which counts the others", async () => {
    const isTold = (line: string) => line.includes('"request not admitted"');
    const readLines = () => stack.serve.stderr.split("\n").filter(isTold).map(parseLine);
    const count = () => readLines().reduce((sum, { suppressed = 0 }) => sum + 1 + suppressed, 0);
    // What a busy machine refused while the workers were new; the log tells all of it within a second.
    let toldBefore = -1;
    while (toldBefore !== count()) {
      toldBefore = count();
      await wait(1_100);
    }
    const linesBefore = readLines().length;
    const startedMs = performance.now();
    const answers = await whileSilent(() => Promise.all(Array.from({ length: 300 }, () => post())));
    const refused = answers.filter(({ status }) => status === 503).length;
    expect(refused).toBeGreaterThan(20);
    await waitFor("each of them, written or counted", () => count() - toldBefore === refused);
    const seconds = Math.ceil((performance.now() - startedMs) / 1_000);
    expect(readLines().length - linesBefore).toBeLessThanOrEqual(WORKERS * (seconds + 1));
    await waitUntilServed(WORKERS, () => post());
  });
});

describe("a slow Redis", () => {
  it("delays requests and refuses none while it answers in time", async () => {
    const asked = await whileSilent(async () => {
      const all = Array.from({ length: 24 }, () => post());
      await waitForWaitingCommands();
      return all;
    });
    const answers = await Promise.all(asked);
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 24 }, () => 200));
  });

  it.each([
    { name: "chat", path: CHAT_PATH, body: chatBody() },
    { name: "the key's status", path: "/v1/key", body: undefined },
    ...byExtent({
      push: [],
      nightly: [
        { name: "messages", path: "/v1/messages", body: chatBody({ max_tokens: 5 }) },
        { name: "chat, streamed", path: CHAT_PATH, body: chatBody({ stream: true }) },
      ],
    }),
  ])("that does not answer is a 503, and nothing goes upstream ($name)", async ({ path, body }) => {
    const options = body === undefined ? { path, method: "GET", body: "" } : { path, body };
    // Redis stays silent until each of them has its answer.
    const answers = await whileSilent(() => Promise.all(Array.from({ length: 12 }, () => post(options))));
    for (const answer of answers) {
      expect(describeRefusal(answer)).toEqual(UNAVAILABLE);
      expect("type" in answer.json()).toBe(path === "/v1/messages");
    }
    expect(upstream.requests).toEqual([]);
    await waitUntilServed(WORKERS, () => post());
  });

  it("refuses a key that it has never seen with 503, not with 401", async () => {
    const fresh = await createTestKey(stack.store);
    const refused = await whileSilent(() => post({ key: fresh.key }));
    expect(describeRefusal(refused)).toEqual(UNAVAILABLE);
    // Nobody has looked into its bucket.
    expect(refused.headers["x-service-ratelimit-remaining"]).toBe("0");
    expect(refused.headers["x-ratelimit-limit-requests"]).toBeUndefined();
    await waitUntilServed(WORKERS, () => post({ key: fresh.key }));
  });

  it("is asked once per request: an admission is never sent again", async () => {
    const monitor = await startMonitor(new URL(stack.redis.url).pathname);
    onTestFinished(() => monitor.stop());
    const answers = await whileSilent(() =>
      Promise.all(Array.from({ length: 30 }, () => post({ path: "/v1/models", method: "GET", body: "" }))),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
    await redis.ping();
    await waitFor(
      "served again",
      async () => (await post({ path: "/v1/models", method: "GET", body: "" })).status === 200,
    );
    await monitor.catchUp();
    const admissions = monitor.findAdmissions(key.id);
    expect(admissions).toHaveLength(31);
    expect(new Set(admissions).size).toBe(31);
  });
});

describe("connections that Redis breaks", () => {
  it("lose what was on them: nothing is sent again, and the next requests are served", async () => {
    const monitor = await startMonitor(new URL(stack.redis.url).pathname);
    onTestFinished(() => monitor.stop());
    await redis.call("CLIENT", "PAUSE", SILENT_MS, "WRITE");
    const lost = Array.from({ length: 20 }, () => post({ path: "/v1/models", method: "GET", body: "" }));
    await waitForWaitingCommands();
    for (const line of String(await redis.call("CLIENT", "LIST")).split("\n")) {
      const id = /^id=(\d+) .*name=inference-gateway/u.exec(line)?.[1];
      if (id !== undefined) await redis.call("CLIENT", "KILL", "ID", id);
    }
    for (const answer of await Promise.all(lost)) expect(describeRefusal(answer)).toEqual(UNAVAILABLE);
    await redis.call("CLIENT", "UNPAUSE");
    await waitFor(
      "served again",
      async () => (await post({ path: "/v1/models", method: "GET", body: "" })).status === 200,
    );
    await monitor.catchUp();
    const ids = monitor.findAdmissions(key.id);
    expect(new Set(ids).size).toBe(ids.length);
  });
});

interface Seen {
  readonly sentMs: number;
  readonly status: number;
  readonly code: string;
}

function startLoad(): { seen: Seen[]; stop: () => Promise<void> } {
  const seen: Seen[] = [];
  const load = runLoad(12, async () => {
    const sentMs = performance.now();
    const answer = await post();
    const code = answer.status === 200 ? "" : String(summarizeError(answer).code);
    seen.push({ sentMs, status: answer.status, code });
  });
  return { seen, ...load };
}

describe("a Redis that dies under load and comes back", () => {
  it("is a 503 and no open door, and requests are served again by themselves", async () => {
    const load = startLoad();
    await waitFor("load", () => load.seen.length > 200);
    stack.redis.kill();
    const killedMs = performance.now();
    await waitFor("refusals", () => load.seen.filter(({ status }) => status === 503).length > 100);
    const upstreamThen = upstream.requests.length;
    await waitFor("three seconds without Redis", () => performance.now() - killedMs > 3_000);
    expect(upstream.requests.length).toBe(upstreamThen);
    await stack.redis.restart();
    const backMs = performance.now();
    const servedAgain = () => load.seen.filter(({ sentMs, status }) => sentMs > backMs && status === 200);
    await waitFor("answers", () => servedAgain().length > 100);
    await load.stop();
    const others = load.seen.filter(({ status, code }) => status !== 200 && code !== "gateway_unavailable");
    expect(others).toEqual([]);
    // What went upstream was answered, or it was refused once it had come back: nothing else reached the upstream.
    const served = load.seen.filter(({ status }) => status === 200).length;
    expect(upstream.requests.length - served).toBeLessThanOrEqual(12);
    const leaks = upstream.requests.filter(({ headers }) => headers.authorization !== undefined);
    expect(leaks).toEqual([]);
  });

  it("refuses a request whose record cannot be opened, though it was admitted", async () => {
    const slow = await createTestKey(stack.store, { maxConcurrentRequests: 5 });
    const body = JSON.stringify(chatBody());
    const request = startRequest(`${stack.baseUrl}${CHAT_PATH}`, {
      method: "POST",
      headers: { authorization: `Bearer ${slow.key}`, "content-length": String(body.length) },
    });
    request.write(body.slice(0, 10));
    const bucket = requestBucketKey(slow.organizationId, slow.id);
    await waitFor("its admission", async () => (await redis.exists(bucket)) === 1);
    const [response] = await whileSilent(async () => {
      request.end(body.slice(10));
      return (await once(request, "response")) as [IncomingMessage];
    });
    const text = (await response.toArray()).join("");
    expect({ status: response.statusCode, retryAfter: response.headers["retry-after"] }).toEqual({
      status: 503,
      retryAfter: "1",
    });
    expect(JSON.parse(text)).toMatchObject({ error: { code: "gateway_unavailable" } });
    expect(response.headers["x-service-ratelimit-remaining"]).not.toBe("0");
    expect(upstream.requests).toEqual([]);
    await redis.ping();
    await waitFor(
      "its place",
      async () => (await redis.zcard(inflightKey(slow.organizationId, slow.id))) === 0,
    );
  });

  it("lets a stream in flight run on, and a worker that dies meanwhile comes back with Redis", async () => {
    const gate = createGate();
    upstream.answer({ kind: "events", events: [textChunk("one"), gate, textChunk(" two"), finishChunk()] });
    const begun = { is: false };
    const stream = post({ body: chatBody({ stream: true }), onData: () => void (begun.is = true) });
    await waitFor("the first piece", () => begun.is);
    stack.redis.kill();
    await waitFor(
      "a refusal",
      async () => (await post({ path: "/v1/models", method: "GET", body: "" })).status === 503,
    );
    upstream.answer({ kind: "echo" });
    await stack.redis.restart();
    gate.release();
    expect(readEvents((await stream).text).at(-1)).toBe("[DONE]");
    stack.redis.kill();
    process.kill(findWorker(stack.configFile, 1), "SIGKILL");
    await waitFor("only two workers", async () => {
      await waitForHealthyWorkers(stack.sockets, WORKERS - 1, 1_000);
      return true;
    });
    await stack.redis.restart();
    await waitForHealthyWorkers(stack.sockets, WORKERS, 20_000);
    await waitFor("served again", async () => (await post()).status === 200);
  });
});

describe("/readyz of a gateway whose workers cannot open connections to Redis any more", () => {
  it("is 503 once no request can be admitted, and 200 when they can again", async () => {
    const readiness = async () => (await send(stack.baseUrl, { path: "/readyz" })).status;
    const socket = new URL(stack.redis.url).pathname;
    const elsewhere = `${socket}.away`;
    await waitUntilServed(WORKERS, () => post());
    renameSync(socket, elsewhere);
    onTestFinished(() => {
      if (existsSync(elsewhere)) renameSync(elsewhere, socket);
    });
    // What is open serves on.
    await waitFor("ready", async () => (await readiness()) === 200);
    expect((await post()).status).toBe(200);
    await redis.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
    await waitFor("not ready", async () => (await readiness()) === 503);
    expect(describeRefusal(await post())).toEqual(UNAVAILABLE);
    renameSync(elsewhere, socket);
    await waitFor("served again", async () => (await post()).status === 200);
    await waitFor("ready again", async () => (await readiness()) === 200);
  });
});

describe("a second `serve` on the same sockets", () => {
  it("refuses to start before it touches anything, and the first serves on", async () => {
    const folder = mkdtempSync(join(tmpdir(), "igw-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const config = parse(readFileSync(stack.configFile, "utf8")) as Record<string, object>;
    const ports = { admin: { port: await findFreePort() }, listen: { port: await findFreePort() } };
    const sidecar = { ...config["sidecar"], sockets: stack.sockets };
    const file = join(folder, "gateway.yaml");
    writeFileSync(file, stringify({ ...config, ...ports, sidecar }));
    const second = startChild(process.execPath, ["dist/main.js", "serve", "--config", file]);
    expect(await second.waitForEnd()).toBe(1);
    expect(second.stderr).toContain(
      `Another gateway (process ${stack.serve.pid}) has its sockets in ${stack.sockets}. Stop it, or set another \`sidecar.sockets\`.`,
    );
    expect(readdirSync(folder)).toEqual(["gateway.yaml"]);
    expect((await post()).status).toBe(200);
  });
});
