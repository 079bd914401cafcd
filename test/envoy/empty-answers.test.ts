/** Answers in which nothing was generated, by servers that count nothing for them. */
import { describe, expect, it } from "vitest";
import { CHAT_PATH, chatBody, withSharedChatStack } from "../support/chat-stack.ts";
import { catalogEntry, CHAT_MODEL, CHAT_UPSTREAM_MODEL } from "../support/gateway-config.ts";
import { finishChunk, type ScriptedAnswer, textChunk, textCompletion } from "../support/scripted-answer.ts";
import { messagesBody, MESSAGES_PATH, readRequest, readSpend } from "./metering-figures.ts";

const chat = withSharedChatStack([catalogEntry({ protocols: ["chat", "responses"] })]);

const ZERO = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
const whole = (text: string, usage: object | null): ScriptedAnswer => ({
  kind: "json",
  body: textCompletion(text, null, { usage }),
});
const streamed = (text: string, usage: object | null): ScriptedAnswer => ({
  kind: "events",
  events: [textChunk(text), finishChunk(), textChunk("", { choices: [], usage })],
});
const response = (usage: object): ScriptedAnswer => ({
  kind: "json",
  body: { id: "r1", object: "response", status: "completed", model: CHAT_UPSTREAM_MODEL, output: [], usage },
});
const responsesBody = (fields: object = {}) => ({ model: CHAT_MODEL, input: "hello", ...fields });

describe("an empty answer", () => {
  it.each([
    ["chat, JSON", CHAT_PATH, chatBody(), whole("", ZERO)],
    ["chat, a stream", CHAT_PATH, chatBody({ stream: true }), streamed("", ZERO)],
    ["messages", MESSAGES_PATH, messagesBody(), whole("", ZERO)],
    ["responses", "/v1/responses", responsesBody(), response({ input_tokens: 0, output_tokens: 0 })],
  ])("costs nothing where its usage says 0: %s", async (_name, path, body, answer) => {
    const key = await chat.stack.createKey();
    chat.upstream.answer(answer);
    const told = await chat.stack.send({ path, key: key.key, body });
    expect(told.status).toBe(200);
    expect(await readSpend(chat.stack, key)).toEqual({ key: 0n, organization: 0n });
    expect(await readRequest(chat.stack, key, told)).toMatchObject({ estimated: false, cost_microcents: 0 });
  });

  it.each([
    ["something was generated", whole("words", ZERO)],
    ["no usage says so", whole("", null)],
    ["the usage says something of a cache", whole("", { ...ZERO, prompt_cache_hit_tokens: 5 })],
    ["it is audio", { kind: "json", body: audioCompletion() } satisfies ScriptedAnswer],
  ])("is estimated where %s", async (_name, answer) => {
    const key = await chat.stack.createKey();
    chat.upstream.answer(answer);
    const told = await chat.send({ key: key.key, body: chatBody() });
    expect((await readSpend(chat.stack, key)).key).toBeGreaterThan(0n);
    expect(await readRequest(chat.stack, key, told)).toMatchObject({ estimated: true });
  });
});

function audioCompletion(): object {
  const message = { role: "assistant", content: null, audio: { id: "a1", data: "AAAA" } };
  const choices = [{ index: 0, message, finish_reason: "stop" }];
  return textCompletion("", null, { usage: ZERO, choices });
}
