import { beforeAll, describe, expect, it } from "vitest";
import { connect } from "node:net";
import { chatBody, withSharedChatStack } from "../support/chat-stack.ts";
import { readError } from "../support/http.ts";
import { openaiError, textChunk, textCompletion } from "../support/scripted-answer.ts";
import { createGate, waitFor } from "../support/wait.ts";
import { catalogEntry } from "../support/gateway-config.ts";
import type { CreatedKey } from "../support/test-key.ts";
import {
  connectRedis,
  MESSAGES_PATH,
  messagesBody,
  readSpend,
  readUsageTotals,
  waitForAdmission,
  waitForTokenizer,
} from "./metering-figures.ts";

/** Model that no other file uses, so the gateway has learned nothing of its tokens. */
const ABORTED_MODEL = "acme/aborted";
const NOWHERE_MODEL = "acme/nowhere";
const IMPATIENT_MODEL = "acme/impatient";
const PROMPT = "The quick brown fox jumps over the lazy dog. ".repeat(40);
/** In proportion to the bodies: the gateway learns from it what a byte is worth. */
const USAGE = { promptTokens: 20, cachedTokens: 0, completionTokens: 1 };

const chat = withSharedChatStack([
  catalogEntry({ id: ABORTED_MODEL }),
  catalogEntry({ id: NOWHERE_MODEL, upstream: "absent" }),
  catalogEntry({ id: IMPATIENT_MODEL }),
]);

const abortedBody = (fields: object = {}, content?: string) =>
  chatBody({ model: ABORTED_MODEL, ...fields }, content);

/** Resolves with the spend of the key once its request is on the list of recent ones. */
async function settledSpend(key: CreatedKey): Promise<bigint> {
  const store = await chat.stack.store();
  await waitFor("the request to be settled", async () => {
    const { items } = await store.listRequests(key.organizationId, { limit: 1, after: null });
    return items.length === 1;
  });
  const { key: spent, organization } = await readSpend(chat.stack, key);
  expect(organization).toBe(spent);
  expect((await readUsageTotals(chat.stack, key)).costMicrocents).toBe(spent);
  return spent;
}

/** The row of the key's only request. */
async function onlyRow(key: CreatedKey) {
  const store = await chat.stack.store();
  const [row] = (await store.listRequests(key.organizationId, { limit: 1, after: null })).items;
  if (row === undefined) throw new Error("there is no request");
  return row;
}

/** What the prompt is estimated at: about one token for four bytes, before anything was learned. */
function expectPromptOnly(spent: bigint): void {
  expect(spent).toBeGreaterThan(200n * 250n);
  expect(spent).toBeLessThan(700n * 250n);
}

beforeAll(() => waitForTokenizer(chat, ABORTED_MODEL));

describe("a client that goes away", () => {
  it("before its body has arrived pays nothing", async () => {
    const key = await chat.stack.createKey();
    const redis = connectRedis(chat.stack);
    const { hostname, port } = new URL(chat.stack.baseUrl);
    const socket = connect(Number(port), hostname);
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key.key}\r\ncontent-length: 5000\r\n\r\n{"model`,
    );
    await waitForAdmission(redis, key);
    redis.disconnect();
    socket.destroy();
    chat.upstream.answer({ kind: "json", body: textCompletion("x", USAGE) });
    expect((await chat.send({ key: key.key, body: abortedBody() })).status).toBe(200);
    expect(await readSpend(chat.stack, key)).toEqual({ key: 6_000n, organization: 6_000n });
    expect(chat.upstream.requests).toHaveLength(1);
  });

  it.each([
    ["chat", false],
    ["chat", true],
    ["messages", true],
  ] as const)(
    "after the body was handed on and before the answer's headers pays its prompt (%s, stream: %s)",
    async (route, stream) => {
      const key = await chat.stack.createKey();
      chat.upstream.answer({ kind: "hang" });
      const controller = sendAndAbort(
        key,
        route === "chat"
          ? abortedBody({ stream }, PROMPT)
          : messagesBody({ model: ABORTED_MODEL, stream }, PROMPT),
        route,
      );
      await chat.upstream.waitForRequests(1);
      controller.abort();
      expectPromptOnly(await settledSpend(key));
      expect(await onlyRow(key)).toMatchObject({ status: 499, estimated: true, outputTokens: 0 });
      await waitFor("the upstream to be let go", () => chat.upstream.lastRequest.state === "aborted");
    },
  );

  it("in mid-stream pays its prompt and what was streamed", async () => {
    const key = await chat.stack.createKey();
    const words = Array.from({ length: 60 }, (_, index) => textChunk(index % 2 === 0 ? " and" : " word"));
    chat.upstream.answer({ kind: "events", events: [...words, createGate()] });
    await chat.send({
      key: key.key,
      body: abortedBody({ stream: true }, PROMPT),
      onData: (_, soFar) => (soFar().toString().split(" word").length > 25 ? "abort" : undefined),
    });
    const spent = await settledSpend(key);
    const row = await onlyRow(key);
    expect(row).toMatchObject({ status: 499, estimated: true });
    expect(row.outputTokens).toBeGreaterThanOrEqual(50);
    expect(row.outputTokens).toBeLessThanOrEqual(60);
    expect(spent).toBe(BigInt(row.inputTokens * 250 + row.outputTokens * 1_000));
    expectPromptOnly(BigInt(row.inputTokens * 250));
    await waitFor("the upstream to be let go", () => chat.upstream.lastRequest.state === "aborted");
  });

  it("in mid-stream pays by the upstream's own count where each chunk has one", async () => {
    const key = await chat.stack.createKey();
    const events = [1, 2, 3].map((count) =>
      textChunk("word ", { usage: { prompt_tokens: 9, completion_tokens: count } }),
    );
    chat.upstream.answer({ kind: "events", events: [...events, createGate()] });
    await chat.send({
      key: key.key,
      body: abortedBody({ stream: true }),
      onData: (_, soFar) => (soFar().toString().split("word").length > 3 ? "abort" : undefined),
    });
    expect(await settledSpend(key)).toBe(9n * 250n + 3n * 1_000n);
    expect((await onlyRow(key)).estimated).toBe(false);
  });

  it("in mid-stream pays for the text even when the upstream has only told the prompt's tokens", async () => {
    const key = await chat.stack.createKey();
    const first = textChunk("", { usage: { prompt_tokens: 9, completion_tokens: 0 } });
    const words = Array.from({ length: 20 }, () => textChunk(" word"));
    chat.upstream.answer({ kind: "events", events: [first, ...words, createGate()] });
    await chat.send({
      key: key.key,
      body: abortedBody({ stream: true }),
      onData: (_, soFar) => (soFar().toString().split(" word").length > 20 ? "abort" : undefined),
    });
    expect(await settledSpend(key)).toBe(9n * 250n + 20n * 1_000n);
    expect((await onlyRow(key)).estimated).toBe(true);
  });

  it("during an answer that is not streamed pays its prompt", async () => {
    const key = await chat.stack.createKey();
    const text = JSON.stringify(textCompletion("x".repeat(2_000), USAGE));
    chat.upstream.answer({
      kind: "bytes",
      headers: { "content-type": "application/json" },
      pieces: [text.slice(0, 500), createGate()],
    });
    const controller = sendAndAbort(key, abortedBody({}, PROMPT), "chat");
    await chat.upstream.waitForRequests(1);
    await waitFor(
      "the upstream's first bytes to be on their way",
      () => chat.upstream.lastRequest.state === "open",
    );
    controller.abort();
    expectPromptOnly(await settledSpend(key));
    expect(await onlyRow(key)).toMatchObject({ status: 499, estimated: true, outputTokens: 0 });
  });
});

describe("an upstream that fails", () => {
  it.each([
    ["resets before it answers", { kind: "reset" } as const],
    [
      "answers with what is no completion",
      { kind: "bytes", headers: { "content-type": "application/json" }, pieces: ['{"hello": 1}'] } as const,
    ],
    [
      "resets within an answer that is not streamed",
      {
        kind: "bytes",
        headers: { "content-type": "application/json", "content-length": "500" },
        pieces: ["{"],
        ending: "reset",
      } as const,
    ],
  ])("costs the prompt when it %s", async (_name, script) => {
    const key = await chat.stack.createKey();
    chat.upstream.answer(script);
    const answer = await chat.send({ key: key.key, body: abortedBody({}, PROMPT) });
    expect(answer.status).toBe(502);
    expectPromptOnly(await settledSpend(key));
  });

  it("costs the prompt and what was streamed when it resets in mid-stream", async () => {
    const key = await chat.stack.createKey();
    const words = Array.from({ length: 30 }, () => textChunk(" word"));
    // A reset takes with it what has not been read yet.
    const gate = createGate();
    chat.upstream.answer({ kind: "events", events: [...words, gate], done: false, ending: "reset" });
    const answer = await chat.send({
      key: key.key,
      body: abortedBody({ stream: true }, PROMPT),
      onData: (_, soFar) => {
        if (soFar().toString().split(" word").length > 30) gate.release();
      },
    });
    expect(answer.complete).toBe(false);
    await settledSpend(key);
    const row = await onlyRow(key);
    expectPromptOnly(BigInt(row.inputTokens * 250));
    expect(row.outputTokens).toBe(30);
  });

  it("costs the prompt and what was streamed when it ends its stream with an error", async () => {
    const key = await chat.stack.createKey();
    const words = Array.from({ length: 30 }, () => textChunk(" word"));
    chat.upstream.answer({
      kind: "events",
      events: [...words, openaiError("out of memory", { type: "server_error" })],
    });
    await chat.send({ key: key.key, body: abortedBody({ stream: true }, PROMPT) });
    await settledSpend(key);
    expect(await onlyRow(key)).toMatchObject({ outputTokens: 30, estimated: true });
  });

  it.each([400, 401, 404, 422, 429, 500, 503])(
    "costs nothing when it answers with status %s",
    async (status) => {
      const key = await chat.stack.createKey();
      chat.upstream.answer({ kind: "json", status, body: openaiError("no") });
      const answer = await chat.send({ key: key.key, body: abortedBody({}, PROMPT) });
      expect(answer.status).not.toBe(200);
      expect(await settledSpend(key)).toBe(0n);
      expect(await onlyRow(key)).toMatchObject({
        status: answer.status,
        errorCode: readError(answer).code,
        costMicrocents: 0n,
      });
    },
  );

  it("costs nothing when none is reached", async () => {
    const key = await chat.stack.createKey();
    const answer = await chat.send({ key: key.key, body: abortedBody({ model: NOWHERE_MODEL }, PROMPT) });
    expect(answer.status).toBe(503);
    expect(readError(answer).code).toBe("model_unreachable");
    expect(await settledSpend(key)).toBe(0n);
    expect((await readUsageTotals(chat.stack, key)).requests).toBe(0);
  });
});

describe("a request that is refused", () => {
  it.each([
    ["no JSON", "{", 400, "invalid_json"],
    ["an unknown model", abortedBody({ model: "acme/unknown" }), 400, "model_not_found"],
    ["no messages", { model: ABORTED_MODEL }, 400, "missing_required_parameter"],
  ] as const)("for %s costs nothing and says why afterwards", async (_name, body, status, code) => {
    const key = await chat.stack.createKey();
    const answer = await chat.send({ key: key.key, body, headers: { "content-type": "application/json" } });
    expect(answer.status).toBe(status);
    expect(await settledSpend(key)).toBe(0n);
    expect(await onlyRow(key)).toMatchObject({ status, errorCode: code });
    expect(chat.upstream.requests).toHaveLength(0);
  });
});

function sendAndAbort(key: CreatedKey, body: object, route: "chat" | "messages"): AbortController {
  const controller = new AbortController();
  const path = route === "chat" ? "/v1/chat/completions" : MESSAGES_PATH;
  fetch(`${chat.stack.baseUrl}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key.key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
    signal: controller.signal,
  }).catch(() => undefined);
  return controller;
}
