import { describe, expect, it } from "vitest";
import { parseUsage, readUsage } from "../../../../src/translation/upstream/usage.ts";

const usage = (
  inputTokens: number,
  cachedInputTokens: number,
  outputTokens: number,
  reasoningTokens = 0,
): object => ({ inputTokens, cachedInputTokens, outputTokens, reasoningTokens });
const base = { prompt_tokens: 100, completion_tokens: 20 };

describe("parseUsage", () => {
  it.each([
    { name: "plain figures", value: { ...base, total_tokens: 120 }, expected: usage(100, 0, 20) },
    {
      name: "OpenAI's cached tokens",
      value: { ...base, prompt_tokens_details: { cached_tokens: 64 } },
      expected: usage(36, 64, 20),
    },
    {
      name: "DeepSeek's cached tokens",
      value: { ...base, prompt_cache_hit_tokens: 64, prompt_cache_miss_tokens: 36 },
      expected: usage(36, 64, 20),
    },
    { name: "Moonshot's cached tokens", value: { ...base, cached_tokens: 64 }, expected: usage(36, 64, 20) },
    {
      name: "the first positive of several",
      value: {
        ...base,
        prompt_tokens_details: { cached_tokens: 0 },
        prompt_cache_hit_tokens: 10,
        cached_tokens: 20,
      },
      expected: usage(90, 10, 20),
    },
    {
      name: "cached tokens above the prompt as the whole prompt",
      value: { ...base, cached_tokens: 101 },
      expected: usage(0, 100, 20),
    },
    {
      name: "impossible cached tokens as none",
      value: { ...base, prompt_tokens_details: { cached_tokens: -5 }, cached_tokens: "7" },
      expected: usage(100, 0, 20),
    },
    { name: "null details", value: { ...base, prompt_tokens_details: null }, expected: usage(100, 0, 20) },
    {
      name: "reasoning tokens",
      value: { ...base, completion_tokens_details: { reasoning_tokens: 15 } },
      expected: usage(100, 0, 20, 15),
    },
    {
      name: "reasoning tokens above the output as the whole output",
      value: { ...base, completion_tokens_details: { reasoning_tokens: 25 } },
      expected: usage(100, 0, 20, 20),
    },
    {
      name: "reasoning that xAI counts beside the output",
      value: {
        prompt_tokens: 12,
        completion_tokens: 2,
        total_tokens: 354,
        completion_tokens_details: { reasoning_tokens: 340 },
      },
      expected: usage(12, 0, 342, 340),
    },
    {
      name: "thinking that stands in Gemini's total alone",
      value: { prompt_tokens: 12, completion_tokens: 2, total_tokens: 354 },
      expected: usage(12, 0, 342, 340),
    },
    {
      name: "a total that cached tokens beside the prompt explain",
      value: { ...base, cached_tokens: 400, total_tokens: 520 },
      expected: usage(0, 100, 20),
    },
    {
      name: "an answer without output",
      value: { prompt_tokens: 3, completion_tokens: 0 },
      expected: usage(3, 0, 0),
    },
    {
      name: "the largest figure",
      value: { prompt_tokens: 1e9, completion_tokens: 0 },
      expected: usage(1e9, 0, 0),
    },
  ])("reads $name", ({ value, expected }) => {
    expect(parseUsage(value)).toEqual(expected);
  });

  it.each([
    { name: "a total that is the sum", figures: { total_tokens: 120 }, kind: null },
    { name: "no total, or a placeholder", figures: { total_tokens: 0 }, kind: null },
    {
      name: "reasoning beside the output",
      figures: { total_tokens: 150, completion_tokens_details: { reasoning_tokens: 30 } },
      kind: null,
    },
    { name: "a total beyond all parts", figures: { total_tokens: 150 }, kind: null },
    { name: "a total below its parts", figures: { total_tokens: 119 }, kind: "total" },
    {
      name: "a total that nothing explains",
      figures: { total_tokens: 150, completion_tokens_details: { reasoning_tokens: 5 } },
      kind: "total",
    },
    {
      name: "more reasoning than output",
      figures: { completion_tokens_details: { reasoning_tokens: 25 } },
      kind: "reasoning_above_output",
    },
    {
      name: "more cached tokens than prompt, which the total may count beside it",
      figures: { cached_tokens: 400, total_tokens: 520 },
      kind: "cached_above_prompt",
    },
  ])("tells whether figures contradict each other: $name", ({ figures, kind }) => {
    expect(readUsage({ ...base, ...figures })?.contradiction).toBe(kind);
  });

  it.each([
    { name: "null", value: null },
    { name: "nothing", value: undefined },
    { name: "an array", value: [base] },
    { name: "a string", value: "100" },
    { name: "no figures", value: {} },
    { name: "no output", value: { prompt_tokens: 1 } },
    { name: "a negative figure", value: { ...base, prompt_tokens: -1 } },
    { name: "a fraction", value: { ...base, completion_tokens: 1.5 } },
    { name: "a string figure", value: { ...base, completion_tokens: "20" } },
    { name: "an infinite figure", value: { ...base, prompt_tokens: Number.POSITIVE_INFINITY } },
    { name: "an absurd figure", value: { ...base, prompt_tokens: 1e9 + 1 } },
    { name: "a placeholder of zeros", value: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 } },
  ])("gives null for $name", ({ value }) => {
    expect(parseUsage(value)).toBeNull();
  });
});
