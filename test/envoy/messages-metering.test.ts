import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { withSharedChatStack } from "../support/chat-stack.ts";
import { catalogEntry, CHAT_MODEL } from "../support/gateway-config.ts";
import { finishChunk, type ScriptedAnswer, textChunk, textCompletion } from "../support/scripted-answer.ts";
import type { CreatedKey } from "../support/test-key.ts";
import { waitFor } from "../support/wait.ts";
import { COUNT_TOKENS_PATH, readMessageStream, sendMessages } from "./messages-checks.ts";
import {
  costOf,
  messagesBody,
  METERED_CATALOG,
  ODD_MODEL,
  onEachWorker,
  readRequest,
  readSpend,
  readUsageTotals,
  MESSAGES_PATH,
  waitForTokenizer,
} from "./metering-figures.ts";
import { readError } from "../support/http.ts";
import { monthLimits } from "../support/month-limits.ts";

const TAUGHT_MODEL = "acme/taught";
/** Nothing is sent to it, so its chat template is not known. */
const UNTAUGHT_MODEL = "acme/untaught";
const chat = withSharedChatStack([
  ...METERED_CATALOG,
  catalogEntry({ id: TAUGHT_MODEL }),
  catalogEntry({ id: UNTAUGHT_MODEL }),
]);

/** Usage as upstreams write it, and what it means: tokens without the cached ones, cached, generated, of it reasoning. */
const SHAPES: readonly (readonly [string, object, readonly [number, number, number, number | null]])[] = [
  ["plain", { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 }, [11, 0, 7, null]],
  [
    "with cached tokens as OpenAI writes them",
    { prompt_tokens: 100, completion_tokens: 7, prompt_tokens_details: { cached_tokens: 64 } },
    [36, 64, 7, null],
  ],
  [
    "with cached tokens as DeepSeek writes them",
    { prompt_tokens: 100, completion_tokens: 7, prompt_cache_hit_tokens: 64 },
    [36, 64, 7, null],
  ],
  [
    "with cached tokens as Moonshot writes them",
    { prompt_tokens: 100, completion_tokens: 7, cached_tokens: 64 },
    [36, 64, 7, null],
  ],
  [
    "with reasoning tokens, which are part of the generated ones",
    { prompt_tokens: 11, completion_tokens: 70, completion_tokens_details: { reasoning_tokens: 60 } },
    [11, 0, 70, 60],
  ],
];

const STOP = { role: "assistant", content: "some words of an answer" };

function scriptUsage(usage: object, stream: boolean): ScriptedAnswer {
  return stream
    ? {
        kind: "events",
        events: [textChunk(STOP.content), finishChunk(), textChunk("", { choices: [], usage })],
      }
    : { kind: "json", body: textCompletion(STOP.content, null, { usage }) };
}

/** Usage as the client of the route reads it. */
async function readClientUsage(key: CreatedKey, stream: boolean) {
  const answer = await sendMessages(chat, { key: key.key, body: messagesBody({ stream }) });
  if (!stream) return { answer, usage: answer.json()["usage"] };
  const events = readMessageStream(answer, "message_stop");
  return { answer, usage: events.find(({ event }) => event === "message_delta")?.data["usage"] };
}

describe.each([
  { form: "a JSON message", stream: false },
  { form: "a streamed message", stream: true },
])("what $form costs", ({ stream }) => {
  it.each(SHAPES)(
    "is the upstream's own count, usage %s, and the client reads the same",
    async (_, ...row) => {
      const [written, [input, cached, output, reasoning]] = row;
      const key = await chat.stack.createKey();
      chat.upstream.answer(scriptUsage(written, stream));
      const { answer, usage } = await readClientUsage(key, stream);
      expect(usage).toMatchObject({
        input_tokens: input,
        cache_read_input_tokens: cached,
        cache_creation_input_tokens: 0,
        output_tokens: output,
        output_tokens_details: reasoning === null ? null : { thinking_tokens: reasoning },
      });
      const expected = costOf({
        promptTokens: input + cached,
        cachedTokens: cached,
        completionTokens: output,
      });
      expect(await readSpend(chat.stack, key)).toEqual({ key: expected, organization: expected });
      expect(await readRequest(chat.stack, key, answer)).toMatchObject({
        status: 200,
        route: "POST /v1/messages",
        model: CHAT_MODEL,
        input_tokens: input,
        cached_input_tokens: cached,
        output_tokens: output,
        estimated: false,
        cost_microcents: Number(expected),
      });
    },
  );

  it("is the same as on the chat route, to the microcent, at prices that do not come out even", async () => {
    const usage = {
      prompt_tokens: 1_003,
      completion_tokens: 77,
      prompt_tokens_details: { cached_tokens: 512 },
    };
    chat.upstream.answer(scriptUsage(usage, stream));
    const [onMessages, onChat] = [await chat.stack.createKey(), await chat.stack.createKey()];
    const body = messagesBody({ model: ODD_MODEL, stream });
    await sendMessages(chat, { key: onMessages.key, body });
    await chat.send({ key: onChat.key, body });
    const spent = await readSpend(chat.stack, onMessages);
    expect(spent.key).toBeGreaterThan(0n);
    expect(spent).toEqual(await readSpend(chat.stack, onChat));
  });

  it("is estimated, and marked so, when the upstream reports no usage", async () => {
    const key = await chat.stack.createKey();
    chat.upstream.answer(
      stream
        ? { kind: "events", events: [textChunk("word ".repeat(200)), finishChunk()] }
        : { kind: "json", body: textCompletion("word ".repeat(200), null) },
    );
    const { answer } = await readClientUsage(key, stream);
    const row = await readRequest(chat.stack, key, answer);
    expect(row.estimated).toBe(true);
    expect(row.output_tokens).toBeGreaterThan(150);
    expect(row.output_tokens).toBeLessThan(500);
    expect((await readSpend(chat.stack, key)).key).toBe(BigInt(row.cost_microcents));
  });

  it("includes thinking that the client does not see", async () => {
    const key = await chat.stack.createKey();
    const usage = { prompt_tokens: 9, completion_tokens: 900 };
    const message = { role: "assistant", reasoning_content: "hidden ".repeat(100), content: "Done." };
    const choice = { index: 0, finish_reason: "stop" };
    chat.upstream.answer(
      stream
        ? { kind: "events", events: [textChunk("", { choices: [{ ...choice, delta: message }], usage })] }
        : { kind: "json", body: textCompletion("", null, { choices: [{ ...choice, message }], usage }) },
    );
    const body = messagesBody({ stream, thinking: { type: "disabled" } });
    const answer = await sendMessages(chat, { key: key.key, body });
    expect(answer.text).not.toContain("hidden");
    expect((await readSpend(chat.stack, key)).key).toBe(9n * 250n + 900n * 1_000n);
  });
});

describe("what costs nothing on the messages route", () => {
  it("is a request that the upstream refuses", async () => {
    const key = await chat.stack.createKey();
    chat.upstream.answer({ kind: "json", status: 400, body: { error: { message: "no" } } });
    await sendMessages(chat, { key: key.key, body: messagesBody() });
    expect(await readSpend(chat.stack, key)).toEqual({ key: 0n, organization: 0n });
  });

  it("is counting tokens", async () => {
    const key = await chat.stack.createKey();
    await sendMessages(chat, { key: key.key, path: COUNT_TOKENS_PATH, body: messagesBody() });
    expect((await readUsageTotals(chat.stack, key)).costMicrocents).toBe(0n);
  });
});

describe("a streamed message that does not come to its end", () => {
  it("is charged what was received when the client goes away", async () => {
    const key = await chat.stack.createKey();
    chat.upstream.answer({
      kind: "events",
      events: [textChunk("word ".repeat(200))],
      done: false,
      ending: "hang",
    });
    await sendMessages(chat, {
      key: key.key,
      body: messagesBody({ stream: true }),
      onData: (_chunk, soFar) => (soFar().includes("word word") ? "abort" : undefined),
    });
    const spent = await waitFor("the charge", async () => {
      const { key: microcents } = await readSpend(chat.stack, key);
      return microcents > 0n && microcents;
    });
    expect(spent).toBeGreaterThan(150_000n);
    expect(spent).toBeLessThan(600_000n);
  });
});

const COUNT_PATH = `${MESSAGES_PATH}/count_tokens`;
const CODE = readFileSync(
  fileURLToPath(new URL("../../src/shared/contract/errors.ts", import.meta.url)),
  "utf8",
);

async function count(body: object): Promise<number> {
  const answer = await chat.send({ path: `${COUNT_PATH}?beta=true`, body });
  expect(answer.status).toBe(200);
  return Number(answer.json()["input_tokens"]);
}

/** How far a count is from the tokenizer's own: 0.1 is a tenth. */
function errorOf(counted: number, text: string): number {
  return Math.abs(counted / countTokens(text) - 1);
}

describe("POST /v1/messages/count_tokens", () => {
  beforeAll(() => waitForTokenizer(chat, UNTAUGHT_MODEL));

  it.each([
    ["English", "The quick brown fox jumps over the lazy dog, and then it rests. ".repeat(50)],
    ["code", CODE],
    ["German", "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich. ".repeat(40)],
    ["Chinese", "我能吞下玻璃而不伤身体。今天的天气很好,我们去公园散步吧。".repeat(40)],
    ["a long word", "a".repeat(20_000)],
    ["white space", `x${" ".repeat(20_000)}y`],
    ["marks of a chat template", "<|endoftext|><|im_start|> ".repeat(100)],
  ])("[count_tokens.estimate] counts %s as a tokenizer does", async (_name, text) => {
    const { max_tokens: _, ...body } = messagesBody({ model: UNTAUGHT_MODEL }, text);
    const exact = countTokens(text, { disallowedSpecial: new Set() });
    const counted = await count(body);
    expect(counted).toBeGreaterThanOrEqual(exact * 0.9);
    expect(counted).toBeLessThanOrEqual(exact * 1.1 + 2);
  });

  it("counts system prompt, all turns, tools and their results", async () => {
    const text = CODE.slice(0, 3_000);
    const schema = { type: "object", properties: { path: { type: "string", description: text } } };
    const counted = await count({
      model: UNTAUGHT_MODEL,
      system: text,
      tools: [{ name: "read", description: text, input_schema: schema }],
      messages: [
        { role: "user", content: [{ type: "text", text }] },
        {
          role: "assistant",
          content: [{ type: "tool_use", id: "toolu_1", name: "read", input: { path: text } }],
        },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: text }] },
      ],
    });
    const json = JSON.stringify(text);
    expect(errorOf(counted, [text, text, text, json, json, json].join("\n"))).toBeLessThan(0.1);
  });

  it("counts an image as some tokens, not by its bytes", async () => {
    const source = { type: "base64", media_type: "image/png", data: "A".repeat(400_000) };
    const counted = await count(
      messagesBody({
        model: UNTAUGHT_MODEL,
        messages: [
          {
            role: "user",
            content: [
              { type: "image", source },
              { type: "text", text: "hi" },
            ],
          },
        ],
      }),
    );
    expect(counted).toBeGreaterThan(1_000);
    expect(counted).toBeLessThan(1_010);
  });

  it("estimates beyond a mebibyte of text", async () => {
    const text = "word ".repeat(300_000);
    const counted = await count(messagesBody({ model: UNTAUGHT_MODEL }, text));
    expect(counted).toBeGreaterThan(100_000);
    expect(counted).toBeLessThan(1_500_000);
  });

  it("asks no upstream and costs nothing, whatever the caps", async () => {
    const key = await chat.stack.createKey({ limits: monthLimits({ cap: 0 }) });
    const body = messagesBody({ model: UNTAUGHT_MODEL });
    const answer = await chat.send({ key: key.key, path: COUNT_PATH, body });
    expect(answer.status).toBe(200);
    expect(answer.json()).toEqual({ input_tokens: 3 });
    expect(chat.upstream.requests).toHaveLength(0);
    expect(await readSpend(chat.stack, key)).toEqual({ key: 0n, organization: 0n });
  });

  it("[count_tokens.template] knows the chat template's tokens that settled requests have taught", async () => {
    const model = TAUGHT_MODEL;
    const { max_tokens: _, ...short } = messagesBody({ model });
    const { max_tokens: _limit, ...long } = messagesBody({ model }, CODE);
    expect(await count(short)).toBe(3);
    const alone = await count(long);
    const usage = { prompt_tokens: 71, completion_tokens: 1, total_tokens: 72 };
    chat.upstream.answer({ kind: "json", body: textCompletion("x", null, { usage }) });
    await onEachWorker(() => chat.send({ path: MESSAGES_PATH, body: messagesBody({ model }) }));
    expect(Math.abs((await count(short)) - 71)).toBeLessThan(10);
    const { input_tokens: responses } = (
      await chat.send({ path: "/v1/responses/input_tokens", body: { model, input: "hello big world" } })
    ).json();
    expect(Math.abs(Number(responses) - 71)).toBeLessThan(10);
    // The text of a long one is counted as before.
    const added = (await count(long)) - alone;
    expect(added).toBeGreaterThan(20);
    expect(added).toBeLessThan(400);
  });

  it("refuses what the messages route would refuse", async () => {
    const answer = await chat.send({ path: COUNT_PATH, body: messagesBody({ model: "acme/unknown" }) });
    expect(answer.status).toBe(400);
    expect(readError(answer).code).toBe("model_not_found");
  });

  it("answers many at once", async () => {
    const counts = await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        count(messagesBody({ model: UNTAUGHT_MODEL }, `${CODE} ${index}`)),
      ),
    );
    expect(Math.max(...counts.map((counted) => errorOf(counted, CODE)))).toBeLessThan(0.1);
  });
});
