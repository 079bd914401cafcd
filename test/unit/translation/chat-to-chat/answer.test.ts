import { describe, expect, it } from "vitest";
import { createAnswer } from "./chat-fixtures.ts";
import { NO_TOKENS } from "../../../../src/shared/usage/token-usage.ts";

const usage = '{"prompt_tokens":9,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":8}}';
const choice =
  '{"index":0,"message":{"role":"assistant","content":"żółć","model":"Org/Chat-32B"},"finish_reason":"stop"}';

function translate(body: string, fields: object = {}) {
  const answer = createAnswer(fields);
  const output = answer.translateBody(Buffer.from(body));
  return { answer, output, text: Buffer.from(output.bytes).toString("utf8") };
}

describe("ChatAnswer.translateBody", () => {
  it("changes the top-level model only and keeps every other byte", () => {
    const before = '{ "id":"x", "n":12345678901234567890,"f":1.0,';
    const after = `, "choices":[${choice}],"unknown":{"model":"Org/Chat-32B"},"usage":${usage}}\n`;
    const { text, output, answer } = translate(`${before}"model":"Org/Chat-32B"${after}`);
    expect(text).toBe(`${before}"model":"acme/chat"${after}`);
    expect(output).toMatchObject({ final: true, failed: null });
    expect(answer.contentType).toBe("application/json");
  });

  it("reads usage and the generated text", () => {
    const { answer } = translate(`{"model":"m","choices":[${choice}],"usage":${usage}}`);
    expect(answer.observation).toMatchObject({
      usage: { ...NO_TOKENS, inputTokens: 1, cachedInputTokens: 8, outputTokens: 4, reasoningTokens: 0 },
      generatedBytes: 8,
      generatedDeltas: 1,
      generatedText: "żółć",
    });
  });

  it("counts text, reasoning once, refusals and tool calls of every choice", () => {
    const message = {
      content: [
        { type: "thinking", thinking: [{ type: "text", text: "12" }] },
        { type: "text", text: "3" },
      ],
      reasoning_content: "456",
      reasoning: "456",
      refusal: "7",
      tool_calls: [{ function: { name: "f", arguments: "{}" } }],
      function_call: { name: "g", arguments: "[]" },
    };
    const { answer } = translate(JSON.stringify({ choices: [{ message }, { message: { content: "z" } }] }));
    expect(answer.observation.generatedText).toBe("1234567f{}g[]z");
    expect(answer.observation).toMatchObject({ usage: null, generatedBytes: 14, generatedDeltas: 2 });
  });

  it.each([
    { name: "no JSON", body: "<html>" },
    { name: "an empty body", body: "" },
    { name: "an array", body: "[]" },
    { name: "null", body: "null" },
    { name: "no choices", body: '{"id":"x"}' },
    { name: "nesting without end", body: "[".repeat(100_000) },
  ])("throws upstream_error at $name", ({ body }) => {
    expect(() => translate(body)).toThrow(expect.objectContaining({ code: "upstream_error" }));
  });

  it.each([
    {
      name: "OpenAI's shape with a status as code",
      body: { error: { message: "too long", code: 400, param: "messages" } },
      expected: { code: "invalid_parameter", message: "too long", param: "messages" },
    },
    {
      name: "old vLLM's shape",
      body: { object: "error", message: "busy", code: 429 },
      expected: { code: "model_overloaded" },
    },
    {
      name: "Ollama's shape",
      body: { error: "secret host is down" },
      expected: {
        code: "upstream_error",
        message:
          "The model server returned an unusable response. Try again; if it persists, send the request ID to the operator.",
      },
    },
    {
      name: "a code that is no status",
      body: { error: { message: "secret", code: "server_error" } },
      expected: { code: "upstream_error", publicCode: "upstream_error" },
    },
    {
      name: "a small code",
      body: { error: { message: "secret", code: 7 } },
      expected: { code: "upstream_error" },
    },
  ])("throws the upstream's error in an answer of status 200: $name", ({ body, expected }) => {
    expect(() => translate(JSON.stringify(body))).toThrow(expect.objectContaining(expected));
  });

  it("plays a JSON answer as the stream that was asked for", () => {
    const body = {
      id: "x",
      object: "chat.completion",
      created: 5,
      model: "Org/Chat-32B",
      choices: [
        {
          index: 0,
          logprobs: null,
          message: {
            role: "assistant",
            content: "hi",
            tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: "{}" } }],
          },
          finish_reason: "tool_calls",
        },
      ],
      usage: { prompt_tokens: 9, completion_tokens: 4 },
    };
    const { answer, text, output } = translate(JSON.stringify(body), {
      stream: true,
      stream_options: { include_usage: true },
    });
    const shared = { id: "x", object: "chat.completion.chunk", created: 5, model: "acme/chat" };
    const events = text.split("\n\n").filter((event) => event !== "");
    expect(events.at(-1)).toBe("data: [DONE]");
    expect(events.slice(0, -1).map((event) => JSON.parse(event.slice(6)) as unknown)).toEqual([
      {
        ...shared,
        choices: [
          {
            index: 0,
            logprobs: null,
            delta: {
              role: "assistant",
              content: "hi",
              tool_calls: [{ index: 0, id: "c", type: "function", function: { name: "f", arguments: "{}" } }],
            },
            finish_reason: null,
          },
        ],
      },
      { ...shared, choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] },
      { ...shared, choices: [], usage: { prompt_tokens: 9, completion_tokens: 4 } },
    ]);
    expect(output.final).toBe(true);
    expect(answer.contentType).toBe("text/event-stream");
    expect(answer.observation.usage?.outputTokens).toBe(4);
  });

  it("plays no usage to a client that did not ask for it", () => {
    const { text } = translate(`{"choices":[${choice}],"usage":${usage}}`, { stream: true });
    expect(text).not.toContain("usage");
  });
});
