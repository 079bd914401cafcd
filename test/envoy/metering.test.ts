import { describe, expect, it } from "vitest";
import { describeAnswer } from "../support/answer-checks.ts";
import { CHAT_PATH, chatBody, withSharedChatStack } from "../support/chat-stack.ts";
import { CHAT_MODEL } from "../support/gateway-config.ts";
import { finishChunk, type ScriptedAnswer, textChunk, textCompletion } from "../support/scripted-answer.ts";
import {
  addKey,
  costOf,
  MESSAGES_PATH,
  messagesBody,
  METERED_CATALOG,
  ODD_MODEL,
  readRequest,
  readSpend,
  readUsageTotals,
} from "./metering-figures.ts";

const chat = withSharedChatStack(METERED_CATALOG);

/** Usage as upstreams write it, and what it means: tokens without the cached ones, cached, generated. */
const SHAPES: readonly (readonly [
  name: string,
  usage: object,
  expected: readonly [number, number, number],
])[] = [
  ["plain", { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 }, [11, 0, 7]],
  ["without a total", { prompt_tokens: 11, completion_tokens: 7 }, [11, 0, 7]],
  [
    "with a total that does not add up",
    { prompt_tokens: 11, completion_tokens: 7, total_tokens: 1 },
    [11, 0, 7],
  ],
  [
    "with cached tokens as OpenAI writes them",
    { prompt_tokens: 100, completion_tokens: 7, prompt_tokens_details: { cached_tokens: 64 } },
    [36, 64, 7],
  ],
  [
    "with cached tokens as DeepSeek writes them",
    { prompt_tokens: 100, completion_tokens: 7, prompt_cache_hit_tokens: 64, prompt_cache_miss_tokens: 36 },
    [36, 64, 7],
  ],
  [
    "with cached tokens as Moonshot writes them",
    { prompt_tokens: 100, completion_tokens: 7, cached_tokens: 64 },
    [36, 64, 7],
  ],
  [
    "with more cached tokens than there are",
    { prompt_tokens: 10, completion_tokens: 7, prompt_tokens_details: { cached_tokens: 64 } },
    [0, 10, 7],
  ],
  [
    "with reasoning tokens, which are part of the generated ones",
    { prompt_tokens: 11, completion_tokens: 70, completion_tokens_details: { reasoning_tokens: 60 } },
    [11, 0, 70],
  ],
  [
    "with reasoning beside the generated ones, as xAI writes it",
    {
      prompt_tokens: 12,
      completion_tokens: 2,
      total_tokens: 354,
      completion_tokens_details: { reasoning_tokens: 340 },
    },
    [12, 0, 342],
  ],
  [
    "with thinking in the total alone, as Gemini's OpenAI endpoint writes it",
    { prompt_tokens: 12, completion_tokens: 2, total_tokens: 354 },
    [12, 0, 342],
  ],
  [
    "with a total that neither figure explains",
    {
      prompt_tokens: 12,
      completion_tokens: 50,
      total_tokens: 354,
      completion_tokens_details: { reasoning_tokens: 30 },
    },
    [12, 0, 50],
  ],
  ["with null details", { prompt_tokens: 11, completion_tokens: 7, prompt_tokens_details: null }, [11, 0, 7]],
  ["of a million tokens", { prompt_tokens: 1_000_000, completion_tokens: 123_457 }, [1_000_000, 0, 123_457]],
];

const UNUSABLE: readonly (readonly [name: string, usage: unknown])[] = [
  ["missing", undefined],
  ["null", null],
  ["negative", { prompt_tokens: -5, completion_tokens: 7 }],
  ["absurd", { prompt_tokens: 5, completion_tokens: 9e15 }],
  ["fractional", { prompt_tokens: 5.5, completion_tokens: 7 }],
  ["a text", { prompt_tokens: "5", completion_tokens: "7" }],
  ["both zero", { prompt_tokens: 0, completion_tokens: 0 }],
  ["an array", [5, 7]],
];

const TEXT = "The quick brown fox jumps over the lazy dog, and then it rests for a while. ";

const CHOICE = { index: 0, delta: {}, finish_reason: "stop" };
const responsesBody = () => ({ model: CHAT_MODEL, input: "hello" });

function streamed(last: object): ScriptedAnswer {
  return {
    kind: "events",
    events: [textChunk(TEXT), finishChunk(), textChunk("", { choices: [], ...last })],
  };
}

describe("what an answer costs", () => {
  for (const [form, makeAnswer] of [
    ["a JSON answer", (usage: object) => ({ kind: "json", body: textCompletion(TEXT, null, { usage }) })],
    ["a stream", (usage: object) => streamed({ usage })],
  ] as const) {
    it.each(SHAPES)(
      `is the upstream's own count in ${form}, usage %s`,
      async (_name, usage, [input, cached, output]) => {
        const key = await chat.stack.createKey();
        chat.upstream.answer(makeAnswer(usage) as ScriptedAnswer);
        const answer = await chat.send({ key: key.key, body: chatBody({ stream: form === "a stream" }) });
        expect(describeAnswer(answer)).toBe("200");
        const expected = costOf({
          promptTokens: input + cached,
          cachedTokens: cached,
          completionTokens: output,
        });
        expect(await readSpend(chat.stack, key)).toEqual({ key: expected, organization: expected });
        expect(await readRequest(chat.stack, key, answer)).toMatchObject({
          status: 200,
          input_tokens: input,
          cached_input_tokens: cached,
          output_tokens: output,
          estimated: false,
          cost_microcents: Number(expected),
        });
      },
    );

    it.each(UNUSABLE)(`is estimated, and marked so, when usage is %s in ${form}`, async (_name, usage) => {
      const key = await chat.stack.createKey();
      chat.upstream.answer(makeAnswer(usage as object) as ScriptedAnswer);
      const answer = await chat.send({
        key: key.key,
        body: chatBody({ stream: form === "a stream" }, TEXT.repeat(20)),
      });
      expect(describeAnswer(answer)).toBe("200");
      const row = await readRequest(chat.stack, key, answer);
      expect(row.estimated).toBe(true);
      // 17 tokens in the vocabulary of the tokenizer, or what the bytes are worth when it is slow.
      expect(row.output_tokens).toBeGreaterThan(10);
      expect(row.output_tokens).toBeLessThan(90);
      expect(row.input_tokens).toBeGreaterThan(100);
      const expected = BigInt(row.input_tokens * 250 + row.output_tokens * 1_000);
      expect(await readSpend(chat.stack, key)).toEqual({ key: expected, organization: expected });
      expect((await readUsageTotals(chat.stack, key)).costMicrocents).toBe(expected);
    });
  }

  it("is the last count of a stream that has usage in every chunk", async () => {
    const key = await chat.stack.createKey();
    const usage = (completion_tokens: number) => ({ usage: { prompt_tokens: 9, completion_tokens } });
    chat.upstream.answer({
      kind: "events",
      events: [1, 2, 3, 4].map((count) => textChunk("x", usage(count))).concat(finishChunk("stop", usage(5))),
    });
    await chat.send({ key: key.key, body: chatBody({ stream: true }) });
    expect((await readSpend(chat.stack, key)).key).toBe(9n * 250n + 5n * 1_000n);
  });

  it("is the count in the chunk with the finish reason, where no chunk follows", async () => {
    const key = await chat.stack.createKey();
    chat.upstream.answer({
      kind: "events",
      events: [textChunk("x"), finishChunk("stop", { usage: { prompt_tokens: 9, completion_tokens: 5 } })],
    });
    await chat.send({ key: key.key, body: chatBody({ stream: true }) });
    expect((await readSpend(chat.stack, key)).key).toBe(9n * 250n + 5n * 1_000n);
  });

  it.each([
    [
      "in the first choice, as Moonshot's",
      (usage: object) => finishChunk("stop", { choices: [{ ...CHOICE, usage }] }),
    ],
    ["in a member of its own, as Groq's", (usage: object) => finishChunk("stop", { x_groq: { usage } })],
  ])("is the upstream's own count where it stands %s", async (_name, makeLast) => {
    const usage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };
    for (const [path, makeBody] of [
      [CHAT_PATH, chatBody],
      [MESSAGES_PATH, messagesBody],
      ["/v1/responses", () => ({ ...responsesBody(), stream: true })],
    ] as const) {
      const key = await chat.stack.createKey();
      chat.upstream.answer({ kind: "events", events: [textChunk("hello there"), makeLast(usage)] });
      const answer = await chat.send({ key: key.key, path, body: makeBody({ stream: true }) });
      expect(describeAnswer(answer)).toBe("200");
      expect((await readSpend(chat.stack, key)).key).toBe(100n * 250n + 20n * 1_000n);
      expect(await readRequest(chat.stack, key, answer)).toMatchObject({ estimated: false });
    }
  });

  it("stays the count that came when null usage follows", async () => {
    const key = await chat.stack.createKey();
    chat.upstream.answer({
      kind: "events",
      events: [
        textChunk("x", { usage: { prompt_tokens: 9, completion_tokens: 5 } }),
        finishChunk("stop", { usage: null }),
      ],
    });
    await chat.send({ key: key.key, body: chatBody({ stream: true }) });
    expect((await readSpend(chat.stack, key)).key).toBe(9n * 250n + 5n * 1_000n);
  });

  it("is counted the same when every byte of the stream comes by itself", async () => {
    const key = await chat.stack.createKey();
    const text = [
      textChunk("é"),
      finishChunk(),
      textChunk("", { choices: [], usage: { prompt_tokens: 9, completion_tokens: 5 } }),
    ]
      .map((event) => `data: ${JSON.stringify(event)}\n\n`)
      .join("");
    const bytes = Buffer.from(`${text}data: [DONE]\n\n`);
    const pieces = Array.from(bytes, (_, index) => bytes.subarray(index, index + 1));
    chat.upstream.answer({ kind: "bytes", headers: { "content-type": "text/event-stream" }, pieces });
    const answer = await chat.send({ key: key.key, body: chatBody({ stream: true }) });
    expect(describeAnswer(answer)).toBe("200");
    expect((await readSpend(chat.stack, key)).key).toBe(9n * 250n + 5n * 1_000n);
  });

  it.each([false, true])("is the same on the messages route, stream: %s", async (stream) => {
    const key = await chat.stack.createKey();
    const usage = { prompt_tokens: 100, completion_tokens: 7, prompt_tokens_details: { cached_tokens: 64 } };
    chat.upstream.answer(
      stream ? streamed({ usage }) : { kind: "json", body: textCompletion(TEXT, null, { usage }) },
    );
    const answer = await chat.send({ key: key.key, path: MESSAGES_PATH, body: messagesBody({ stream }) });
    expect(describeAnswer(answer)).toBe("200");
    expect((await readSpend(chat.stack, key)).key).toBe(36n * 250n + 64n * 25n + 7n * 1_000n);
    expect(await readRequest(chat.stack, key, answer)).toMatchObject({
      route: `POST ${MESSAGES_PATH}`,
      estimated: false,
    });
  });

  describe.each([
    { route: "chat", path: CHAT_PATH, makeBody: chatBody },
    { route: "messages", path: MESSAGES_PATH, makeBody: messagesBody },
  ])("on the $route route", ({ path, makeBody }) => {
    const error = { error: { code: 503, message: "the engine is overloaded" } };

    it.each([
      { form: "a JSON answer", stream: false, answer: { kind: "json", body: error }, status: 503 },
      {
        form: "a stream's first event",
        stream: true,
        answer: { kind: "events", events: [error] },
        status: 200,
      },
    ] as const)("is nothing when $form of status 200 is an error", async ({ stream, answer, status }) => {
      const key = await chat.stack.createKey();
      chat.upstream.answer(answer);
      const received = await chat.send({ key: key.key, path, body: makeBody({ stream }) });
      expect(received.status).toBe(status);
      expect(received.text).toContain("overloaded_error");
      expect(await readSpend(chat.stack, key)).toEqual({ key: 0n, organization: 0n });
      expect(await readRequest(chat.stack, key, received)).toMatchObject({
        error_code: "model_starting",
        estimated: false,
        cost_microcents: 0,
      });
    });

    it("is what was streamed before an error", async () => {
      const key = await chat.stack.createKey();
      chat.upstream.answer({ kind: "events", events: [textChunk(TEXT), error] } as unknown as ScriptedAnswer);
      await chat.send({ key: key.key, path, body: makeBody({ stream: true }) });
      expect((await readSpend(chat.stack, key)).key).toBeGreaterThan(10_000n);
    });

    it.each([null, []])(
      "is the usage of an answer whose choices are %j, which cannot be used",
      async (choices) => {
        const key = await chat.stack.createKey();
        const usage = { prompt_tokens: 11, completion_tokens: 7 };
        chat.upstream.answer({ kind: "json", body: { ...textCompletion("x", null, { usage }), choices } });
        const received = await chat.send({ key: key.key, path, body: makeBody({}) });
        expect((await readSpend(chat.stack, key)).key).toBe(11n * 250n + 7n * 1_000n);
        expect(await readRequest(chat.stack, key, received)).toMatchObject({
          estimated: false,
          output_tokens: 7,
        });
      },
    );
  });

  it("is rounded up once per request, on the sum", async () => {
    const key = await chat.stack.createKey();
    const usage = { prompt_tokens: 3, completion_tokens: 1, prompt_tokens_details: { cached_tokens: 1 } };
    chat.upstream.answer({ kind: "json", body: textCompletion("x", null, { usage }) });
    // 2 × 1.23 + 0.123 + 4.56789 = 7.15089 microcents.
    for (let sent = 0; sent < 3; sent += 1) {
      await chat.send({ path: CHAT_PATH, key: key.key, body: chatBody({ model: ODD_MODEL }) });
    }
    expect(await readSpend(chat.stack, key)).toEqual({ key: 24n, organization: 24n });
  });

  it("is in the organization's own currency, at that currency's prices", async () => {
    const key = await chat.stack.createKey({}, { currency: "EUR" });
    const usage = {
      prompt_tokens: 1_000,
      completion_tokens: 100,
      prompt_tokens_details: { cached_tokens: 400 },
    };
    chat.upstream.answer({ kind: "json", body: textCompletion("x", null, { usage }) });
    await chat.send({ key: key.key, body: chatBody() });
    expect((await readSpend(chat.stack, key)).key).toBe(600n * 230n + 400n * 23n + 100n * 920n);
    const status = (await chat.stack.send({ path: "/v1/key", key: key.key })).json();
    expect(status["currency"]).toBe("EUR");
  });

  it("adds up over the keys of an organization", async () => {
    const first = await chat.stack.createKey();
    const second = await addKey(chat.stack, first);
    const usage = { promptTokens: 8, cachedTokens: 0, completionTokens: 2 };
    chat.upstream.answer({ kind: "json", body: textCompletion("x", usage) });
    await chat.send({ key: first.key, body: chatBody() });
    await chat.send({ key: second.key, path: MESSAGES_PATH, body: messagesBody() });
    expect(await readSpend(chat.stack, first)).toEqual({ key: 4_000n, organization: 8_000n });
    expect(await readSpend(chat.stack, second)).toEqual({ key: 4_000n, organization: 8_000n });
    expect(await readUsageTotals(chat.stack, first)).toEqual({
      requests: 2,
      inputTokens: 16,
      cachedInputTokens: 0,
      outputTokens: 4,
      costMicrocents: 8_000n,
    });
  });
});
