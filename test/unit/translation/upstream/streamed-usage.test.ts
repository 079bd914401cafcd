import { describe, expect, it } from "vitest";
import {
  findUsage,
  mergeMessageUsage,
  readMessageUsage,
} from "../../../../src/translation/upstream/usage.ts";

describe("the usage of a chunk", () => {
  const chat = { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 };

  it.each([
    ["in the first choice, as Moonshot's", { choices: [{ index: 0, usage: chat }] }],
    ["in a member of its own, as Groq's", { choices: [], x_groq: { id: "req_1", usage: chat } }],
    [
      "beside the choices, whatever else there is",
      { usage: chat, choices: [{ usage: { prompt_tokens: 1 } }] },
    ],
  ])("is found %s", (_name, chunk) => {
    expect(findUsage(chunk)).toEqual(chat);
    expect(findUsage({ ...chunk, usage: null, choices: [], x_groq: null })).toBeNull();
  });
});

describe("the usage of a streamed message", () => {
  const message = {
    input_tokens: 100,
    cache_read_input_tokens: 600,
    cache_creation_input_tokens: 300,
    cache_creation: { ephemeral_5m_input_tokens: 200, ephemeral_1h_input_tokens: 100 },
    output_tokens: 100,
  };
  const whole = readMessageUsage(message);

  it("is what `message_delta` says in place of what `message_start` said, the rest stays", () => {
    const start = { ...message, output_tokens: 1, cache_read_input_tokens: 5 };
    const delta = { output_tokens: 100, cache_read_input_tokens: 600, cache_creation: null };
    expect(readMessageUsage(mergeMessageUsage(start, delta))).toEqual(whole);
  });

  it.each([
    ["none", {}],
    ["null", { output_tokens: null, input_tokens: null }],
    ["negative", { output_tokens: -1, input_tokens: -1 }],
    ["fractional", { output_tokens: 200.5, input_tokens: 2_000.5 }],
    ["a text", { output_tokens: "200", input_tokens: "2000" }],
    ["less than before", { output_tokens: 99, input_tokens: 0, cache_read_input_tokens: 0 }],
  ])("does not change with figures that are %s", (_name, delta) => {
    expect(readMessageUsage(mergeMessageUsage(message, delta))).toEqual(whole);
  });
});
