/** Every route before llama.cpp's own server: what clients get, and that each charge is of the server's own count. */
import { describe, expect, it } from "vitest";
import type { HttpAnswer } from "../support/http.ts";
import { SLOT_TOKENS } from "../support/llama/llama-server.ts";
import {
  EMBED_MODEL,
  expectCounted,
  llama,
  LLAMA_NOTE,
  TINY_MODEL,
  withLlama,
} from "../support/llama/with-llama.ts";

const MAX_TOKENS = 24;
const HELLO = [{ role: "user", content: "hello big world" }];
const WEATHER = {
  type: "object",
  properties: { city: { enum: ["Paris", "Rome"] } },
  required: ["city"],
  additionalProperties: false,
};
const ANSWER = {
  type: "object",
  properties: { whales: { type: "integer", minimum: 0, maximum: 99 } },
  required: ["whales"],
  additionalProperties: false,
};

type Json = Readonly<Record<string, unknown>>;

interface Route {
  readonly path: string;
  /** A request for at most so many tokens. */
  readonly body: Json;
  /** What ends a stream of it. */
  readonly last: string;
  readonly readText: (answer: Json) => string;
}

const firstOf = (value: unknown): Json => (value as Json[])[0] ?? {};
const CHAT: Route = {
  path: "/v1/chat/completions",
  body: { messages: HELLO, max_tokens: MAX_TOKENS },
  last: "data: [DONE]",
  readText: ({ choices }) => String((firstOf(choices)["message"] as Json)["content"]),
};
const MESSAGES: Route = {
  path: "/v1/messages",
  body: { messages: HELLO, max_tokens: MAX_TOKENS },
  last: "event: message_stop",
  readText: ({ content }) => String(firstOf(content)["text"]),
};
const RESPONSES: Route = {
  path: "/v1/responses",
  body: { input: "hello big world", max_output_tokens: MAX_TOKENS },
  last: "data: [DONE]",
  readText: ({ output }) => String(firstOf(firstOf(output)["content"])["text"]),
};
const COMPLETIONS: Route = {
  path: "/v1/completions",
  body: { prompt: "hello big world", max_tokens: MAX_TOKENS },
  last: "data: [DONE]",
  readText: ({ choices }) => String(firstOf(choices)["text"]),
};
const ROUTES = [CHAT, MESSAGES, RESPONSES, COMPLETIONS];
/** What agents read when a prompt is too long. */
const OVERFLOWS = [
  [CHAT, /^context_length_exceeded /u],
  [MESSAGES, / prompt is too long/u],
  [RESPONSES, /^context_length_exceeded /u],
] as const;

const limitOf = (route: Route, tokens: number): Json =>
  route === RESPONSES ? { max_output_tokens: tokens } : { max_tokens: tokens };

describe.skipIf(llama.missing !== null)(`llama.cpp's own server${LLAMA_NOTE}`, () => {
  const stack = withLlama();
  const send = ({ path, body }: Route, fields: Json = {}): Promise<HttpAnswer> =>
    stack.send({ path, body: { model: TINY_MODEL, ...body, ...fields } });

  it.each(ROUTES)("answers JSON at $path, charged by its own count", async (route) => {
    const { result: answer, counts } = await stack.measure(() => send(route));
    expect(answer.status).toBe(200);
    expect(route.readText(answer.json())).not.toBe("");
    expect(counts.outputTokens).toBeGreaterThan(0);
    expectCounted([await stack.readRow(answer)], counts);
  });

  it.each(ROUTES)("streams at $path, charged by its own count", async (route) => {
    const { result: answer, counts } = await stack.measure(() => send(route, { stream: true }));
    expect(answer.headers["content-type"]).toMatch(/^text\/event-stream/u);
    expect(answer.text).toContain(route.last);
    expectCounted([await stack.readRow(answer)], counts);
  });

  it("tells the client of each route what it counted itself", async () => {
    for (const route of ROUTES) {
      const answer = await send(route);
      const row = await stack.readRow(answer);
      const usage = answer.json()["usage"] as Record<string, number>;
      expect(usage["completion_tokens"] ?? usage["output_tokens"]).toBe(row.output_tokens);
      const prompt = usage["prompt_tokens"] ?? usage["input_tokens"]!;
      const isBeside = route === MESSAGES;
      expect(prompt).toBe(row.input_tokens + (isBeside ? 0 : row.cached_input_tokens));
    }
  });

  it("embeds, charged by its own count", async () => {
    const before = await stack.embed.counts();
    const answer = await stack.send({
      path: "/v1/embeddings",
      body: { model: EMBED_MODEL, input: ["hello", "big world"] },
    });
    expect(answer.status).toBe(200);
    const { data, usage } = answer.json() as { data: Json[]; usage: Record<string, number> };
    expect(data).toHaveLength(2);
    const { promptTokens } = await stack.embed.counts();
    const row = await stack.readRow(answer);
    expect(row).toMatchObject({ estimated: false, output_tokens: 0, input_tokens: usage["prompt_tokens"] });
    expect(row.input_tokens).toBe(promptTokens - before.promptTokens);
  });

  it("answers several prompts in one stream, whose first line has nothing", async () => {
    const fields = { prompt: ["hello", "big world"], stream: true };
    const { result: answer, counts } = await stack.measure(() => send(COMPLETIONS, fields));
    expect(answer.text.trimEnd().endsWith("data: [DONE]")).toBe(true);
    for (const index of [0, 1]) expect(answer.text).toContain(`"index":${index}`);
    const row = await stack.readRow(answer);
    // It tells the usage of one.
    expect(row.output_tokens).toBeGreaterThanOrEqual(counts.outputTokens * 0.75);
  });

  it("answers thrice, and is not charged for one", async () => {
    const { result: answer, counts } = await stack.measure(() => send(CHAT, { n: 3 }));
    const { choices, usage } = answer.json() as { choices: Json[]; usage: Record<string, number> };
    expect(choices).toHaveLength(3);
    const row = await stack.readRow(answer);
    expect(row.output_tokens).toBeGreaterThan(usage["completion_tokens"]!);
    expect(row.output_tokens).toBeGreaterThanOrEqual(counts.outputTokens * 0.5);
    expect(row.estimated).toBe(true);
  });

  it.each([
    [
      CHAT,
      {
        tools: [{ type: "function", function: { name: "weather", parameters: WEATHER } }],
        tool_choice: "required",
      },
      ({ choices }: Json) => {
        const { message } = firstOf(choices) as { message: { tool_calls: { function: Json }[] } };
        return JSON.parse(String(message.tool_calls[0]!.function["arguments"])) as Json;
      },
    ],
    [
      MESSAGES,
      { tools: [{ name: "weather", input_schema: WEATHER }], tool_choice: { type: "any" } },
      ({ content }: Json) => (content as Json[]).find(({ type }) => type === "tool_use")?.["input"] as Json,
    ],
    [
      RESPONSES,
      { tools: [{ type: "function", name: "weather", parameters: WEATHER }], tool_choice: "required" },
      ({ output }: Json) => {
        const call = (output as Json[]).find(({ type }) => type === "function_call");
        return JSON.parse(String(call?.["arguments"])) as Json;
      },
    ],
  ] as const)("calls a tool by its grammar at $path", async (route, tools, readInput) => {
    const limit = limitOf(route, 400);
    const { result: answer, counts } = await stack.measure(() => send(route, { ...tools, ...limit }));
    expect(answer.status).toBe(200);
    expect(["Paris", "Rome"]).toContain(readInput(answer.json())["city"]);
    expectCounted([await stack.readRow(answer)], counts);
  });

  it.each([
    [CHAT, { response_format: { type: "json_schema", json_schema: { name: "answer", schema: ANSWER } } }],
    [MESSAGES, { output_config: { format: { type: "json_schema", schema: ANSWER } } }],
    [RESPONSES, { text: { format: { type: "json_schema", name: "answer", schema: ANSWER } } }],
  ] as const)("keeps to a schema at $path", async (route, format) => {
    const limit = limitOf(route, 400);
    const { result: answer, counts } = await stack.measure(() => send(route, { ...format, ...limit }));
    const { whales } = JSON.parse(route.readText(answer.json())) as { whales: number };
    expect(whales).toBeGreaterThanOrEqual(0);
    expectCounted([await stack.readRow(answer)], counts);
  });

  it.each([
    [CHAT, { stop: ["e", "a", " "] }],
    [MESSAGES, { stop_sequences: ["e", "a", " "] }],
    [COMPLETIONS, { stop: ["e", "a", " "] }],
  ] as const)("stops where it is told to at $path", async (route, stop) => {
    const limit = { max_tokens: 1_000 };
    const { result: answer, counts } = await stack.measure(() => send(route, { ...stop, ...limit }));
    expect(answer.status).toBe(200);
    expect(counts.outputTokens).toBeLessThan(1_000);
    expectCounted([await stack.readRow(answer)], counts);
  });

  it.each(OVERFLOWS)(
    "refuses a prompt beyond its window at $path in words that agents know, for nothing",
    async (route, words) => {
      const content = "hello ".repeat(SLOT_TOKENS);
      const prompt = route === RESPONSES ? { input: content } : { messages: [{ role: "user", content }] };
      const { result: answer, counts } = await stack.measure(() => send(route, prompt));
      expect(answer.status).toBe(400);
      const { error } = answer.json() as { error: Json };
      expect(`${String(error["code"])} ${String(error["message"])}`).toMatch(words);
      expect(counts).toEqual({ promptTokens: 0, cachedTokens: 0, outputTokens: 0 });
      expect(await stack.readRow(answer)).toMatchObject({ cost_microcents: 0, output_tokens: 0 });
    },
  );

  it("is counted before it is asked, near to what it counts itself", async () => {
    const answer = await send(MESSAGES);
    const { input_tokens: exact, cached_input_tokens: cached } = await stack.readRow(answer);
    const body = { model: TINY_MODEL, messages: HELLO };
    const counted = await stack.send({ path: "/v1/messages/count_tokens", body });
    const estimate = Number(counted.json()["input_tokens"]);
    expect(Math.abs(estimate - exact - cached)).toBeLessThan(10);
  });
});
