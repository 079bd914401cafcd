import { describe, expect, it } from "vitest";
import { NO_TOKENS } from "../../../../src/shared/usage/token-usage.ts";
import {
  parseUsage,
  readMessageUsage,
  readResponseUsage,
  readUsage,
} from "../../../../src/data-path/translation/upstream/usage.ts";

const usage = (
  inputTokens: number,
  cachedInputTokens: number,
  outputTokens: number,
  reasoningTokens = 0,
): object => ({ ...NO_TOKENS, inputTokens, cachedInputTokens, outputTokens, reasoningTokens });
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
      name: "more written to the cache than the prompt has beside the cached",
      figures: { prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 41 } },
      kind: "cache_write_above_prompt",
    },
    {
      name: "writes for 5 minutes and an hour that are not all writes",
      figures: {
        prompt_tokens_details: {
          cache_creation_tokens: 50,
          cache_creation_token_details: { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 20 },
        },
      },
      kind: "cache_write_split",
    },
    {
      name: "more audio than prompt",
      figures: { prompt_tokens_details: { audio_tokens: 101 } },
      kind: "audio_above_prompt",
    },
    {
      name: "audio that is cached",
      figures: { prompt_tokens_details: { audio_tokens: 100, cached_tokens: 60 } },
      kind: null,
    },
    {
      name: "more audio than output",
      figures: { completion_tokens_details: { audio_tokens: 21 } },
      kind: "audio_above_output",
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

describe("what a total has more than prompt and completion", () => {
  const usage = { prompt_tokens: 80, completion_tokens: 173, total_tokens: 490 };
  const GEMINI_TOOLS = { toolUsePromptTokenCount: 237 };

  it.each([
    ["thinking where nothing is told of it", {}, 80, 410],
    ["no output where reasoning is 0", { completion_tokens_details: { reasoning_tokens: 0 } }, 80, 173],
    ["prompt of tools where that is told", { tool_use_prompt_tokens: 237 }, 317, 173],
    ["the same in Gemini's spelling", { extra_properties: { google: GEMINI_TOOLS } }, 317, 173],
    ["both, where both are", { total_tokens: 550, ...thought(60), tool_use_prompt_tokens: 237 }, 317, 233],
    [
      "nothing where the prompt has that of tools",
      { total_tokens: 253, tool_use_prompt_tokens: 50 },
      80,
      173,
    ],
  ])("is %s", (_name, figures, input, output) => {
    const tokens = parseUsage({ ...usage, ...figures });
    expect([tokens?.inputTokens, tokens?.outputTokens]).toEqual([input, output]);
  });
});

function thought(tokens: number) {
  return { completion_tokens_details: { reasoning_tokens: tokens } };
}

/** The rows of the table in docs/usage-fields.md, in its order: 1,000 tokens of prompt, 100 of output. */
describe("the forms of usage", () => {
  const chat = { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 };
  const inputs = (figures: object): object => ({ ...NO_TOKENS, outputTokens: 100, ...figures });

  it.each([
    {
      form: "OpenAI and vLLM: the prompt includes what came from the cache",
      usage: { ...chat, prompt_tokens_details: { cached_tokens: 600 } },
      tokens: inputs({ inputTokens: 400, cachedInputTokens: 600 }),
    },
    {
      form: "OpenAI and OpenRouter: the prompt includes what was written to the cache",
      usage: { ...chat, prompt_tokens_details: { cached_tokens: 600, cache_write_tokens: 300 } },
      tokens: inputs({ inputTokens: 400, cachedInputTokens: 600, cacheWriteTokens: 300 }),
    },
    {
      form: "OpenAI: the prompt includes audio, the output audio and reasoning",
      usage: {
        ...chat,
        prompt_tokens_details: { audio_tokens: 700 },
        completion_tokens_details: { audio_tokens: 60, reasoning_tokens: 30 },
      },
      tokens: inputs({
        inputTokens: 1000,
        inputAudioTokens: 700,
        outputAudioTokens: 60,
        reasoningTokens: 30,
      }),
    },
    {
      form: "cached audio is cached, once: where it is told apart",
      usage: {
        ...chat,
        prompt_tokens_details: {
          audio_tokens: 700,
          cached_tokens: 500,
          cached_tokens_details: { audio_tokens: 400 },
        },
      },
      tokens: inputs({ inputTokens: 500, cachedInputTokens: 500, inputAudioTokens: 300 }),
    },
    {
      form: "cached audio is cached, once: where it is not",
      usage: { ...chat, prompt_tokens_details: { audio_tokens: 700, cached_tokens: 500 } },
      tokens: inputs({ inputTokens: 500, cachedInputTokens: 500, inputAudioTokens: 500 }),
    },
    {
      form: "DeepSeek: the prompt is hits and misses",
      usage: { ...chat, prompt_cache_hit_tokens: 600, prompt_cache_miss_tokens: 400 },
      tokens: inputs({ inputTokens: 400, cachedInputTokens: 600 }),
    },
    {
      form: "Moonshot: the prompt includes the cached",
      usage: { ...chat, cached_tokens: 600 },
      tokens: inputs({ inputTokens: 400, cachedInputTokens: 600 }),
    },
    {
      form: "LiteLLM: the prompt includes what was written, for 5 minutes and for an hour",
      usage: {
        ...chat,
        prompt_tokens_details: {
          cached_tokens: 600,
          cache_creation_tokens: 300,
          cache_creation_token_details: { ephemeral_5m_input_tokens: 200, ephemeral_1h_input_tokens: 100 },
        },
      },
      tokens: inputs({
        inputTokens: 400,
        cachedInputTokens: 600,
        cacheWriteTokens: 200,
        cacheWrite1hTokens: 100,
      }),
    },
    {
      form: "proxies of Anthropic: what was written, with its lifetimes, stands beside the prompt's details",
      usage: {
        ...chat,
        prompt_tokens_details: { cached_tokens: 600 },
        cache_creation_input_tokens: 300,
        cache_creation: { ephemeral_5m_input_tokens: 200, ephemeral_1h_input_tokens: 100 },
      },
      tokens: inputs({
        inputTokens: 400,
        cachedInputTokens: 600,
        cacheWriteTokens: 200,
        cacheWrite1hTokens: 100,
      }),
    },
    {
      form: "the output is left out, and the total tells it",
      usage: { prompt_tokens: 1000, total_tokens: 1100 },
      tokens: inputs({ inputTokens: 1000 }),
    },
    {
      form: "xAI: reasoning stands beside the output",
      usage: { ...chat, total_tokens: 1130, completion_tokens_details: { reasoning_tokens: 30 } },
      tokens: inputs({ inputTokens: 1000, outputTokens: 130, reasoningTokens: 30 }),
    },
    {
      form: "Gemini's OpenAI endpoint: thinking is in the total alone",
      usage: { ...chat, total_tokens: 1130 },
      tokens: inputs({ inputTokens: 1000, outputTokens: 130, reasoningTokens: 30 }),
    },
  ])("chat completions, $form", ({ usage: told, tokens }) => {
    expect(readUsage(told)).toEqual({ tokens, contradiction: null });
  });

  it("responses: the input includes what is cached, written and audio", () => {
    const told = {
      input_tokens: 1000,
      input_tokens_details: { cached_tokens: 600, cache_write_tokens: 300, audio_tokens: 100 },
      output_tokens: 100,
      output_tokens_details: { reasoning_tokens: 30 },
      total_tokens: 1100,
    };
    const tokens = inputs({
      inputTokens: 400,
      cachedInputTokens: 600,
      cacheWriteTokens: 300,
      inputAudioTokens: 100,
      reasoningTokens: 30,
    });
    expect(readResponseUsage(told)).toEqual({ tokens, contradiction: null });
  });

  const message = {
    input_tokens: 100,
    cache_read_input_tokens: 600,
    cache_creation_input_tokens: 300,
    cache_creation: { ephemeral_5m_input_tokens: 200, ephemeral_1h_input_tokens: 100 },
    output_tokens: 100,
  };
  const messageTokens = inputs({
    inputTokens: 400,
    cachedInputTokens: 600,
    cacheWriteTokens: 200,
    cacheWrite1hTokens: 100,
  });

  it("messages: the input excludes what is cached and written", () => {
    expect(readMessageUsage(message)).toEqual({ tokens: messageTokens, contradiction: null });
  });

  it("messages, in the words of before there were two lifetimes: all writes are for 5 minutes", () => {
    const { cache_creation: _, ...older } = message;
    expect(readMessageUsage(older)?.tokens).toMatchObject({ cacheWriteTokens: 300, cacheWrite1hTokens: 0 });
  });

  it("messages with lifetimes alone: their sum was written", () => {
    const { cache_creation_input_tokens: _, ...apart } = message;
    expect(readMessageUsage(apart)?.tokens).toEqual(messageTokens);
  });

  it("messages whose lifetimes are not the writes: the writes count, an hour's first", () => {
    const told = { ...message, cache_creation: { ephemeral_1h_input_tokens: 400 } };
    expect(readMessageUsage(told)).toEqual({
      tokens: { ...messageTokens, cacheWriteTokens: 0, cacheWrite1hTokens: 300 },
      contradiction: "cache_write_split",
    });
  });

  it("never counts a token twice, nor more than there are, whatever the figures say", () => {
    const figures = [undefined, null, 0, 1, 7, 99, 100, 101, 1e9, 1e9 + 1, -1, 0.5, "5", Number.NaN];
    let seed = 1;
    const pick = (): unknown => {
      seed = (seed * 48_271) % 2_147_483_647;
      return figures[seed % figures.length];
    };
    for (let round = 0; round < 1_000; round += 1) {
      const told = {
        prompt_tokens: 100,
        completion_tokens: 100,
        total_tokens: pick(),
        cached_tokens: pick(),
        prompt_tokens_details: {
          cached_tokens: pick(),
          cache_write_tokens: pick(),
          audio_tokens: pick(),
          cache_creation_token_details: { ephemeral_1h_input_tokens: pick() },
          cached_tokens_details: { audio_tokens: pick() },
        },
        completion_tokens_details: { reasoning_tokens: pick(), audio_tokens: pick() },
      };
      const tokens = parseUsage(told) ?? NO_TOKENS;
      const { inputTokens, cachedInputTokens, cacheWriteTokens, cacheWrite1hTokens, inputAudioTokens } =
        tokens;
      const { outputTokens, reasoningTokens, outputAudioTokens } = tokens;
      expect(inputTokens + cachedInputTokens).toBe(100);
      expect(inputTokens - cacheWriteTokens - cacheWrite1hTokens - inputAudioTokens).toBeGreaterThanOrEqual(
        0,
      );
      expect(outputTokens).toBeGreaterThanOrEqual(100);
      expect(outputTokens - reasoningTokens - outputAudioTokens).toBeGreaterThanOrEqual(0);
      for (const count of Object.values(tokens)) expect(count).toBeGreaterThanOrEqual(0);
    }
  });
});
