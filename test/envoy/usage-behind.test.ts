/** Answers without a usage, or whose last one cannot be theirs: what was generated is charged all the same, and marked. */
import { beforeAll, describe, expect, it } from "vitest";
import { CHAT_PATH, withSharedChatStack } from "../support/chat-stack.ts";
import { catalogEntry } from "../support/gateway-config.ts";
import { send } from "../support/http.ts";
import { parseMetrics, sumOf } from "../support/metrics-page.ts";
import { namedEvent } from "../support/native-exchange.ts";
import { finishChunk, textChunk, textCompletion } from "../support/scripted-answer.ts";
import { waitFor } from "../support/wait.ts";
import { readRequest, readSpend, waitForTokenizer } from "./metering-figures.ts";
import { OUTPUT_PLACES, OUTPUT_TOKENS } from "./output-places.ts";

const NATIVE_MODEL = "acme/native";
const RESPONSES_MODEL = "acme/responses";
const CHAT_MODEL = "acme/chat";
const MODELS: Readonly<Record<string, string>> = {
  chat: CHAT_MODEL,
  messages: NATIVE_MODEL,
  responses: RESPONSES_MODEL,
};
/** Microcents a token: 100 for the prompt, 400 for the output. */
const PRICES = { USD: { input: "1", output: "4" } };
const PIECES = 50;

type Row = Awaited<ReturnType<typeof readRequest>>;

const chat = withSharedChatStack([
  catalogEntry({ id: NATIVE_MODEL, upstream: "native", prices: PRICES }),
  catalogEntry({ id: RESPONSES_MODEL, upstream: "native", prices: PRICES }),
  catalogEntry({ id: CHAT_MODEL, prices: PRICES }),
]);

async function countEstimated(model: string): Promise<number> {
  const page = await send(chat.stack.adminUrl, { path: "/metrics" });
  return sumOf(parseMetrics(page.text), "inference_gateway_estimated_requests_total", { model });
}

/** A prompt of 100 tokens, and fifty pieces of text between the first usage and the last. */
function messagesEvents(last: object): string {
  const message = { id: "msg_1", type: "message", role: "assistant", content: [], model: "up" };
  const usage = { input_tokens: 100, output_tokens: 1 };
  const text = { type: "text_delta", text: " word" };
  return [
    namedEvent("message_start", { message: { ...message, usage } }),
    namedEvent("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
    ...Array.from({ length: PIECES }, () => namedEvent("content_block_delta", { index: 0, delta: text })),
    namedEvent("content_block_stop", { index: 0 }),
    namedEvent("message_delta", { delta: { stop_reason: "end_turn", stop_sequence: null }, ...last }),
    namedEvent("message_stop"),
  ].join("");
}

/** Streams an answer and reads what became of it. */
async function stream(model: string, path: string, body: object) {
  const key = await chat.stack.createKey();
  const before = await countEstimated(model);
  const answer = await chat.send({ key: key.key, path, body: { model, stream: true, ...body } });
  expect(answer.status).toBe(200);
  const row = await readRequest(chat.stack, key, answer);
  const spend = await readSpend(chat.stack, key);
  return { row, spend, before };
}

/** Fifty tokens in the vocabulary of the tokenizer, or what the bytes are worth when it is slow. */
function describeCount(
  { input_tokens: input, output_tokens: output, estimated }: Row,
  spent: bigint,
): object {
  return {
    input,
    isOutputCounted: output >= PIECES && output < 2 * PIECES,
    estimated,
    isCharged: spent === BigInt(input * 100 + output * 400),
  };
}

const COUNTED = { input: 100, isOutputCounted: true, estimated: true, isCharged: true };

const MESSAGES = { max_tokens: 200, messages: [{ role: "user", content: "hello" }] };

describe("a usage that is behind what was streamed after it", () => {
  it.each([
    ["absent", {}],
    ["empty", { usage: {} }],
    ["negative", { usage: { output_tokens: -5 } }],
    ["fractional", { usage: { output_tokens: 7.5 } }],
    ["0", { usage: { output_tokens: 0 } }],
  ])("is no figure of messages passed through whose last one is %s", async (_name, last) => {
    const bytes = messagesEvents(last);
    chat.upstream.answer({
      kind: "bytes",
      headers: { "content-type": "text/event-stream" },
      pieces: [bytes],
    });
    const { row, spend, before } = await stream(NATIVE_MODEL, "/v1/messages", MESSAGES);
    expect(describeCount(row, spend.key)).toEqual(COUNTED);
    await waitFor("the metric", async () => (await countEstimated(NATIVE_MODEL)) === before + 1);
  });

  it.each([
    ["chat completions", CHAT_PATH, { messages: MESSAGES.messages }],
    ["messages", "/v1/messages", MESSAGES],
    ["responses", "/v1/responses", { input: "hello" }],
  ])("is no figure of a chat stream that has it in its first chunk alone (%s)", async (_name, path, body) => {
    const usage = { prompt_tokens: 100, completion_tokens: 1, total_tokens: 101 };
    const text = Array.from({ length: PIECES - 1 }, () => textChunk(" word"));
    chat.upstream.answer({ kind: "events", events: [textChunk(" word", { usage }), ...text, finishChunk()] });
    const { row, spend, before } = await stream(CHAT_MODEL, path, body);
    expect(describeCount(row, spend.key)).toEqual(COUNTED);
    await waitFor("the metric", async () => (await countEstimated(CHAT_MODEL)) === before + 1);
  });

  it("is one where nothing was generated but what its own chunk has", async () => {
    const usage = { prompt_tokens: 100, completion_tokens: 9, total_tokens: 109 };
    chat.upstream.answer({ kind: "events", events: [textChunk("a word", { usage }), finishChunk()] });
    const { row, spend } = await stream(CHAT_MODEL, CHAT_PATH, { messages: MESSAGES.messages });
    expect(row).toMatchObject({ input_tokens: 100, output_tokens: 9, estimated: false });
    expect(spend.key).toBe(100n * 100n + 9n * 400n);
  });

  it("does not lower what `message_start` told of the prompt", async () => {
    const usage = { input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 9 };
    const bytes = messagesEvents({ usage });
    chat.upstream.answer({
      kind: "bytes",
      headers: { "content-type": "text/event-stream" },
      pieces: [bytes],
    });
    const { row } = await stream(NATIVE_MODEL, "/v1/messages", MESSAGES);
    expect(row).toMatchObject({ input_tokens: 100, output_tokens: 9, estimated: false });
  });
});

describe("a usage of one of several answers", () => {
  const words = (count: number) => " word".repeat(count).trimStart();
  const completion = (tokens: number, usage: object) => ({
    ...textCompletion("", null),
    choices: [0, 1, 2].map((index) => ({
      index,
      message: { role: "assistant", content: words(tokens) },
      finish_reason: "stop",
    })),
    usage: { prompt_tokens: 100, ...usage },
  });
  const body = { model: CHAT_MODEL, n: 3, messages: MESSAGES.messages };

  it("is no figure of three: all of them are charged, by an estimate that is marked", async () => {
    const key = await chat.stack.createKey();
    chat.upstream.answer({ kind: "json", body: completion(PIECES, { completion_tokens: PIECES }) });
    const answer = await chat.send({ key: key.key, body: { ...body, usage: { include: true } } });
    // What one of them cost is no cost of the request.
    expect(answer.json()["usage"]).not.toHaveProperty("cost");
    const row = await readRequest(chat.stack, key, answer);
    expect(row).toMatchObject({ input_tokens: 100, estimated: true });
    expect(row.output_tokens).toBeGreaterThanOrEqual(3 * PIECES);
    expect(row.output_tokens).toBeLessThan(4 * PIECES);
    expect((await readSpend(chat.stack, key)).key).toBe(BigInt(100 * 100 + row.output_tokens * 400));
  });

  it("is told from that of all, which is charged as it is", async () => {
    const key = await chat.stack.createKey();
    chat.upstream.answer({ kind: "json", body: completion(PIECES, { completion_tokens: 3 * PIECES + 3 }) });
    const answer = await chat.send({ key: key.key, body });
    expect(await readRequest(chat.stack, key, answer)).toMatchObject({
      input_tokens: 100,
      output_tokens: 3 * PIECES + 3,
      estimated: false,
    });
  });

  it("is no figure of a stream that tells one for each of two", async () => {
    const delta = (index: number) =>
      textChunk("", { choices: [{ index, delta: { content: " word" }, finish_reason: null }] });
    const end = (index: number) => textChunk("", { choices: [{ index, delta: {}, finish_reason: "stop" }] });
    const usage = textChunk("", {
      choices: [],
      usage: { prompt_tokens: 100, completion_tokens: PIECES, total_tokens: 100 + PIECES },
    });
    const of = (index: number) => [...Array.from({ length: PIECES }, () => delta(index)), end(index), usage];
    chat.upstream.answer({ kind: "events", events: [...of(1), ...of(0)] });
    const { row, spend } = await stream(CHAT_MODEL, CHAT_PATH, { n: 2, messages: MESSAGES.messages });
    expect(row).toMatchObject({ input_tokens: 100, estimated: true });
    expect(row.output_tokens).toBeGreaterThanOrEqual(2 * PIECES);
    expect(spend.key).toBe(BigInt(100 * 100 + row.output_tokens * 400));
  });
});

describe("output without a usage", () => {
  beforeAll(() => waitForTokenizer(chat, CHAT_MODEL));

  it.each(OUTPUT_PLACES)("is charged in $name", async ({ upstream, path, body, stream, whole }) => {
    const key = await chat.stack.createKey();
    const model = MODELS[upstream];
    const ask = (fields: object) => chat.send({ key: key.key, path, body: { model, ...body, ...fields } });
    chat.upstream.answer({
      kind: "bytes",
      headers: { "content-type": "text/event-stream" },
      pieces: [stream],
    });
    const broken = await ask({ stream: true });
    chat.upstream.answer({ kind: "json", body: whole });
    const complete = await ask({});
    for (const answer of [broken, complete]) {
      const { output_tokens: tokens, estimated } = await readRequest(chat.stack, key, answer);
      // Some places have a name beside their text.
      expect([tokens >= OUTPUT_TOKENS, tokens <= OUTPUT_TOKENS + 10, estimated]).toEqual([true, true, true]);
    }
  });
});
