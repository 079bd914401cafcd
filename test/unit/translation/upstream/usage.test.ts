import { describe, expect, it } from "vitest";
import { parseUsage } from "../../../../src/translation/upstream/usage.ts";

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
