import { describe, expect, it } from "vitest";
import { CHAT_PATH, chatBody, withSharedChatStack } from "../support/chat-stack.ts";
import { finishChunk, textChunk, textCompletion } from "../support/scripted-answer.ts";
import {
  costOf,
  MESSAGES_PATH,
  messagesBody,
  METERED_CATALOG,
  readRequest,
  readSpend,
} from "./metering-figures.ts";

const chat = withSharedChatStack(METERED_CATALOG);
const ROUTES = [
  ["chat", CHAT_PATH, chatBody],
  ["messages", MESSAGES_PATH, messagesBody],
] as const;
const ERROR = { error: { code: 503, message: "no capacity" } };
const USAGE = { prompt_tokens: 12, completion_tokens: 3, total_tokens: 15 };

describe.each(ROUTES)("an upstream's error inside an answer of status 200 (%s)", (_name, path, body) => {
  it("costs nothing when it is the answer: nothing was generated", async () => {
    const key = await chat.stack.createKey();
    chat.upstream.answer({ kind: "json", body: ERROR });
    const answer = await chat.send({ key: key.key, path, body: body() });
    expect(answer.status).toBeGreaterThanOrEqual(500);
    expect((await readSpend(chat.stack, key)).key).toBe(0n);
    expect(await readRequest(chat.stack, key, answer)).toMatchObject({
      cost_microcents: 0,
      estimated: false,
    });
  });

  it("says when to come back where it says that the server is starting: the model's own time", async () => {
    const starting = { error: { message: "Loading model", type: "unavailable_error", code: 503 } };
    chat.upstream.answer({ kind: "json", body: starting });
    const answer = await chat.send({ path, body: body() });
    expect([answer.status, answer.headers["retry-after"]]).toEqual([503, "10"]);
  });

  it("costs nothing as a stream's first event", async () => {
    const key = await chat.stack.createKey();
    chat.upstream.answer({ kind: "events", events: [ERROR] });
    const answer = await chat.send({ key: key.key, path, body: body({ stream: true }) });
    expect(answer.text).toContain("error");
    expect((await readSpend(chat.stack, key)).key).toBe(0n);
  });

  it("is charged what was streamed before it", async () => {
    const key = await chat.stack.createKey();
    chat.upstream.answer({ kind: "events", events: [textChunk("hello"), ERROR] });
    const answer = await chat.send({ key: key.key, path, body: body({ stream: true }) });
    expect(answer.text).toContain("hello");
    expect((await readSpend(chat.stack, key)).key).toBeGreaterThan(0n);
    expect(await readRequest(chat.stack, key, answer)).toMatchObject({ estimated: true });
  });
});

describe.each(ROUTES)("an answer whose choices are null (%s)", (_name, path, body) => {
  it("is charged the usage that it has, exactly", async () => {
    const key = await chat.stack.createKey();
    chat.upstream.answer({
      kind: "json",
      body: { id: "x", object: "chat.completion", choices: null, usage: USAGE },
    });
    const answer = await chat.send({ key: key.key, path, body: body() });
    expect(answer.status).toBe(502);
    const cost = costOf({ promptTokens: 12, cachedTokens: 0, completionTokens: 3 });
    expect((await readSpend(chat.stack, key)).key).toBe(cost);
    expect(await readRequest(chat.stack, key, answer)).toMatchObject({
      cost_microcents: Number(cost),
      estimated: false,
    });
  });
});

describe.each(ROUTES)("reasoning that completion_tokens leaves out (%s)", (_name, path, body) => {
  it.each([
    ["told apart (xAI)", { completion_tokens_details: { reasoning_tokens: 340 } }],
    ["only in the total (Gemini)", {}],
  ])("is charged as output, %s", async (_case, details) => {
    const key = await chat.stack.createKey();
    const usage = { prompt_tokens: 12, completion_tokens: 2, total_tokens: 354, ...details };
    chat.upstream.answer(({ body: sent }) =>
      sent?.["stream"] === true
        ? { kind: "events", events: [textChunk("x"), finishChunk("stop", { usage })] }
        : { kind: "json", body: { ...textCompletion("x", null), usage } },
    );
    const cost = costOf({ promptTokens: 12, cachedTokens: 0, completionTokens: 342 });
    for (const stream of [false, true]) {
      const answer = await chat.send({ key: key.key, path, body: body({ stream }) });
      expect(await readRequest(chat.stack, key, answer)).toMatchObject({
        output_tokens: 342,
        cost_microcents: Number(cost),
      });
    }
  });
});
