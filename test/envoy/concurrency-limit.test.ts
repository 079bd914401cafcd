/**
 * The limit of concurrent requests of a key: exact over all workers, and given back whichever way a request ends. Places of
 * a dead worker: `true-waits.test.ts`.
 */
import { Agent } from "node:http";
import { join } from "node:path";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { inflightKey } from "../../src/data-path/store/redis/keys.ts";
import { summarizeError } from "../support/answer-checks.ts";
import { CHAT_PATH, chatBody, withSharedChatStack } from "../support/chat-stack.ts";
import { byExtent } from "../support/extent.ts";
import { catalogEntry } from "../support/gateway-config.ts";
import type { HttpAnswer, SendOptions } from "../support/http.ts";
import {
  finishChunk,
  openaiError,
  type ScriptedAnswer,
  textChunk,
  textCompletion,
} from "../support/scripted-answer.ts";
import type { CreatedKey } from "../support/test-key.ts";
import { createGate, waitFor } from "../support/wait.ts";

const LIMIT = 5;
const ABSENT_MODEL = "acme/absent";
const chat = withSharedChatStack([catalogEntry(), catalogEntry({ id: ABSENT_MODEL, upstream: "absent" })]);
const agent = new Agent({ keepAlive: true, maxSockets: 64 });
let redis: Redis;

beforeAll(() => {
  redis = new Redis(join(chat.stack.dir, "run/redis.sock"));
});
afterAll(() => {
  redis.disconnect();
  agent.destroy();
});

const limitedKey = (): Promise<CreatedKey> =>
  chat.stack.createKey({ maxConcurrentRequests: LIMIT, name: "ci" });

function post(key: CreatedKey, options: Partial<SendOptions> = {}): Promise<HttpAnswer> {
  return chat.send({ key: key.key, body: chatBody(), agent, ...options });
}

/** Places that Redis counts for the key. */
const slots = (key: CreatedKey): Promise<number> => redis.zcard(inflightKey(key.organizationId, key.id));

async function waitUntilFree(key: CreatedKey): Promise<void> {
  await waitFor("no slot is taken", async () => (await slots(key)) === 0);
}

const EACH_WITH_EACH = [
  { name: "JSON", path: CHAT_PATH, stream: false, envelope: {} },
  { name: "a stream of messages", path: "/v1/messages", stream: true, envelope: { type: "error" } },
  { name: "a stream", path: CHAT_PATH, stream: true, envelope: {} },
  { name: "messages", path: "/v1/messages", stream: false, envelope: { type: "error" } },
];
/** On each push each route and each form once. */
const ANSWERED = EACH_WITH_EACH.slice(0, byExtent({ push: 2, nightly: 4 }));

describe("40 requests at once with a limit of 5", () => {
  it.each(ANSWERED)("run exactly 5 at a time and refuse 35 ($name)", async ({ path, stream, envelope }) => {
    const key = await limitedKey();
    const gate = createGate();
    chat.upstream.answer(
      stream
        ? { kind: "events", before: gate, events: [textChunk("hi"), finishChunk()] }
        : { kind: "json", before: gate, body: textCompletion("hi", null) },
    );
    const body = chatBody({ stream, max_tokens: 50 });
    const answers: HttpAnswer[] = [];
    const all = Promise.all(
      Array.from({ length: 40 }, async () => answers.push(await post(key, { path, body }))),
    );
    await waitFor("35 refusals", () => answers.length === 40 - LIMIT);
    expect(await chat.upstream.waitForRequests(LIMIT)).toHaveLength(LIMIT);
    expect(await slots(key)).toBe(LIMIT);
    for (const answer of answers) {
      const { status, type, code, message, retryAfter, breaches } = summarizeError(answer);
      expect({ status, type, code, message, retryAfter, breaches }).toEqual({
        status: 429,
        type: "rate_limit_error",
        code: "concurrency_limit_exceeded",
        message: 'API key "ci" has reached its limit of 5 concurrent requests. Try again when one has ended.',
        retryAfter: "1",
        breaches: [],
      });
      const family = path === CHAT_PATH ? "x-ratelimit-limit-requests" : "anthropic-ratelimit-requests-limit";
      expect({ ...answer.json(), [family]: answer.headers[family] }).toMatchObject({
        ...envelope,
        [family]: "1000000",
      });
    }
    gate.release();
    await all;
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(LIMIT);
    await waitUntilFree(key);
  });

  it("never run more than 5 while clients come back for more", async () => {
    const key = await limitedKey();
    const state = { running: 0, most: 0 };
    chat.upstream.answer(() => {
      state.running += 1;
      state.most = Math.max(state.most, state.running);
      setTimeout(() => (state.running -= 1), 10);
      return { kind: "json", before: 10, body: textCompletion("hi", null) };
    });
    const statuses: number[] = [];
    const client = async (): Promise<void> => {
      for (let request = 0; request < byExtent({ push: 8, nightly: 25 }); request += 1) {
        statuses.push((await post(key)).status);
      }
    };
    await Promise.all(Array.from({ length: 16 }, client));
    expect(state.most).toBeGreaterThan(1);
    expect(state.most).toBeLessThanOrEqual(LIMIT);
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
    await waitUntilFree(key);
  });

  it("count only calls that cost money", async () => {
    const key = await limitedKey();
    const gate = createGate();
    chat.upstream.answer({ kind: "json", before: gate, body: textCompletion("hi", null) });
    const held = Array.from({ length: LIMIT }, () => post(key));
    await chat.upstream.waitForRequests(LIMIT);
    const paths = ["/v1/key", "/v1/models"];
    const answers = await Promise.all(paths.map((path) => chat.stack.send({ path, key: key.key })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect((await post(key)).status).toBe(429);
    gate.release();
    await Promise.all(held);
  });
});

const STREAM: ScriptedAnswer = { kind: "events", events: [textChunk("hi"), textChunk("ho"), finishChunk()] };

interface Ending {
  readonly name: string;
  readonly answer?: ScriptedAnswer;
  readonly request?: Partial<SendOptions>;
  /** The client goes away: before the answer's headers, or at the first piece of it. */
  readonly abort?: "waiting" | "answering";
}

describe("a slot is given back after", () => {
  it.each<Ending>([
    { name: "an answer", answer: { kind: "echo" } },
    { name: "a stream", answer: STREAM, request: { body: chatBody({ stream: true }) } },
    {
      name: "an answer on the messages route",
      request: { path: "/v1/messages", body: chatBody({ max_tokens: 5 }) },
    },
    { name: "a body that is no JSON", request: { body: "{" } },
    { name: "no body at all", request: { method: "POST", body: "" } },
    { name: "an unknown model", request: { body: chatBody({ model: "acme/nothing" }) } },
    { name: "a compressed body", request: { headers: { "content-encoding": "gzip" }, body: "x" } },
    { name: "a wrong method", request: { method: "PUT", body: "{}" } },
    { name: "an upstream's 400", answer: { kind: "json", status: 400, body: openaiError("no") } },
    { name: "an upstream's 500", answer: { kind: "json", status: 500, body: openaiError("no") } },
    { name: "an upstream's 429", answer: { kind: "json", status: 429, body: openaiError("no") } },
    { name: "an upstream's reset", answer: { kind: "reset" } },
    {
      name: "an upstream's reset in a stream",
      answer: { kind: "events", events: [textChunk("hi")], done: false, ending: "reset" },
      request: { body: chatBody({ stream: true }) },
    },
    { name: "an upstream that refuses the connection", request: { body: chatBody({ model: ABSENT_MODEL }) } },
    { name: "an answer that is no JSON", answer: { kind: "bytes", pieces: ["<html>"] } },
    { name: "a client that goes before the answer", answer: { kind: "hang" }, abort: "waiting" },
    {
      name: "a client that goes in mid-stream",
      answer: { kind: "events", events: [textChunk("hi")], done: false, ending: "hang" },
      request: { body: chatBody({ stream: true }) },
      abort: "answering",
    },
  ])("$name", async ({ answer, request = {}, abort }) => {
    const key = await limitedKey();
    if (answer !== undefined) chat.upstream.answer(answer);
    if (abort === "waiting") await sendAndLeave(key, request);
    else await post(key, { ...request, ...(abort === "answering" ? { onData: () => "abort" } : {}) });
    await waitUntilFree(key);
    chat.upstream.answer({ kind: "echo" });
    const next = await Promise.all(Array.from({ length: LIMIT }, () => post(key)));
    expect(next.map(({ status }) => status)).toEqual(Array.from({ length: LIMIT }, () => 200));
  });

  async function sendAndLeave(key: CreatedKey, request: Partial<SendOptions>): Promise<void> {
    const own = new Agent();
    const sent = post(key, { ...request, agent: own }).catch(() => "left");
    await chat.upstream.waitForRequests(1);
    expect(await slots(key)).toBe(1);
    own.destroy();
    expect(await sent).toBe("left");
  }
});

describe("a limit that is set", () => {
  it("counts what is in flight already", async () => {
    const key = await chat.stack.createKey({ name: "ci" });
    const gate = createGate();
    chat.upstream.answer({ kind: "json", before: gate, body: textCompletion("hi", null) });
    const held = Array.from({ length: 2 }, () => post(key));
    await chat.upstream.waitForRequests(2);
    const reference = { organizationId: key.organizationId, keyId: key.id };
    await (await chat.stack.store()).changeKey(reference, { maxConcurrentRequests: 2 }, null);
    expect((await post(key)).status).toBe(429);
    gate.release();
    await Promise.all(held);
    expect((await post(key)).status).toBe(200);
  });
});
