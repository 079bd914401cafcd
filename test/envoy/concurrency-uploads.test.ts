/** Bodies take their time, or never arrive: the limit of concurrent requests counts what runs, not what is uploaded. */
import { once } from "node:events";
import { Agent, type ClientRequest, type IncomingMessage, request as startRequest } from "node:http";
import { join } from "node:path";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { inflightKey, requestBucketKey } from "../../src/data-path/store/redis/keys.ts";
import { summarizeError } from "../support/answer-checks.ts";
import { CHAT_PATH, chatBody, withChatStack } from "../support/chat-stack.ts";
import type { HttpAnswer } from "../support/http.ts";
import { textCompletion } from "../support/scripted-answer.ts";
import type { CreatedKey } from "../support/test-key.ts";
import { createGate, waitFor } from "../support/wait.ts";

const LIMIT = 5;
const MAX_BODY_BYTES = 1_000_000;
/** One token in 10 s, ten at once. */
const RPM = 6;
const CAPACITY = 10;
const UNITS_PER_TOKEN = 60_000_000;
const chat = withChatStack(() => ({
  workers: 2,
  overrides: { limits: { max_body_bytes: MAX_BODY_BYTES } },
}));
let redis: Redis;

beforeAll(() => {
  redis = new Redis(join(chat.stack.dir, "run/redis.sock"));
});
afterAll(() => redis.disconnect());

const post = (key: CreatedKey): Promise<HttpAnswer> => chat.send({ key: key.key, body: chatBody() });

/** Places that Redis counts for the key. */
const slots = (key: CreatedKey): Promise<number> => redis.zcard(inflightKey(key.organizationId, key.id));

async function expectAllFree(key: CreatedKey): Promise<void> {
  expect(await slots(key)).toBe(0);
  const gate = createGate();
  chat.upstream.reset();
  chat.upstream.answer({ kind: "json", before: gate, body: textCompletion("hi", null) });
  const next = Array.from({ length: LIMIT }, () => post(key));
  await chat.upstream.waitForRequests(LIMIT);
  gate.release();
  expect((await Promise.all(next)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
}

interface Upload {
  readonly request: ClientRequest;
  /** "left" when the connection ended without one. */
  readonly answer: Promise<HttpAnswer | "left">;
}

/** Begins a request of `body` and `missingBytes` more that do not come until the test sends them. */
function startUpload(key: CreatedKey, body: string, missingBytes: number): Upload {
  const agent = new Agent();
  const request = startRequest(`${chat.stack.baseUrl}${CHAT_PATH}`, {
    method: "POST",
    agent,
    headers: {
      authorization: `Bearer ${key.key}`,
      "content-type": "application/json",
      "content-length": String(Buffer.byteLength(body) + missingBytes),
    },
  });
  request.write(body);
  const answer = once(request, "response").then(
    async ([response]: IncomingMessage[]) => readAnswer(response),
    () => "left" as const,
  );
  return { request, answer };
}

async function readAnswer(response: IncomingMessage | undefined): Promise<HttpAnswer> {
  if (response === undefined) throw new Error("an answer without a response");
  const bytes = Buffer.concat(await response.toArray());
  const text = bytes.toString("utf8");
  const { statusCode: status = 0, headers, rawHeaders, complete } = response;
  return { status, headers, rawHeaders, complete, bytes, text, json: () => JSON.parse(text) };
}

/** Envoy has asked whether the key may send: a token is taken. */
async function waitForAdmissions(key: CreatedKey, count: number): Promise<void> {
  const bucket = requestBucketKey(key.organizationId, key.id);
  await waitFor(`${count} admissions`, async () => {
    const recorded = Number(await redis.hget(bucket, "units")) / UNITS_PER_TOKEN;
    return (await redis.exists(bucket)) === 1 && Math.floor(recorded) <= CAPACITY - count;
  });
}

/** Slow enough that its bucket counts admissions. */
const slowKey = (): Promise<CreatedKey> =>
  chat.stack.createKey({ maxConcurrentRequests: LIMIT, requestsPerMinute: RPM, name: "ci" });

describe("a body that is on its way", () => {
  it("takes no slot: as many others run, and it is refused once it is there if they still do", async () => {
    const key = await slowKey();
    const body = JSON.stringify(chatBody());
    const uploads = Array.from({ length: LIMIT }, () => startUpload(key, body.slice(0, 9), body.length - 9));
    await waitForAdmissions(key, LIMIT);
    expect(await slots(key)).toBe(0);
    const gate = createGate();
    chat.upstream.answer({ kind: "json", before: gate, body: textCompletion("hi", null) });
    const held = Array.from({ length: LIMIT }, () => post(key));
    await chat.upstream.waitForRequests(LIMIT);
    const first = uploads[0]?.request.end(body.slice(9)) && (await uploads[0].answer);
    if (first === undefined || first === "left") throw new Error("no answer");
    expect(summarizeError(first)).toMatchObject({
      status: 429,
      code: "concurrency_limit_exceeded",
      retryAfter: "1",
      breaches: [],
    });
    gate.release();
    await Promise.all(held);
    chat.upstream.answer({ kind: "echo" });
    for (const { request } of uploads.slice(1)) request.end(body.slice(9));
    const rest = await Promise.all(uploads.slice(1).map(({ answer }) => answer));
    expect(rest.map((answer) => answer !== "left" && answer.status)).toEqual([200, 200, 200, 200]);
    expect(await slots(key)).toBe(0);
  });

  it("leaves every slot free when its client goes away in the middle of it", async () => {
    const key = await slowKey();
    const uploads = Array.from({ length: LIMIT }, () => startUpload(key, "{", 100));
    await waitForAdmissions(key, LIMIT);
    for (const { request } of uploads) request.destroy();
    expect(new Set(await Promise.all(uploads.map(({ answer }) => answer)))).toEqual(new Set(["left"]));
    await expectAllFree(key);
  });

  it.each([
    { name: "that says its size", options: { body: Buffer.alloc(MAX_BODY_BYTES + 1, 32) } },
    { name: "in chunks", options: { chunks: [Buffer.alloc(MAX_BODY_BYTES, 32), Buffer.alloc(1_000, 32)] } },
  ])("leaves every slot free when it is too large ($name)", async ({ options }) => {
    const key = await slowKey();
    const { method, ...rest } = { method: "POST", ...options };
    const sent = Array.from({ length: LIMIT }, () =>
      chat.send({ key: key.key, method, ...rest }).then(({ status }) => status),
    );
    expect(new Set(await Promise.all(sent))).toEqual(new Set([413]));
    await expectAllFree(key);
  });

  it("is refused before it is uploaded when the key has no slot free", async () => {
    const key = await slowKey();
    const gate = createGate();
    chat.upstream.answer({ kind: "json", before: gate, body: textCompletion("hi", null) });
    const held = Array.from({ length: LIMIT }, () => post(key));
    await chat.upstream.waitForRequests(LIMIT);
    const { request, answer } = startUpload(key, "{", 1_000_000);
    const refused = await answer;
    expect(refused !== "left" && summarizeError(refused).code).toBe("concurrency_limit_exceeded");
    request.destroy();
    gate.release();
    await Promise.all(held);
  });
});
