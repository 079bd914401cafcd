import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../../src/shared/text/json-object.ts";
import {
  findUsage,
  mergeMessageUsage,
  readMessageUsage,
} from "../../../../src/data-path/translation/upstream/usage.ts";

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

/** Input and cached tokens after these deltas, whether or not the start has figures of caches. */
function mergeAll(input: number, deltas: readonly JsonObject[]): readonly number[] {
  const ways = [{}, { cache_read_input_tokens: 0, cache_creation_input_tokens: 0 }].map((caches) => {
    const start = { input_tokens: input, output_tokens: 0, ...caches };
    const usage = deltas.reduce(
      (before, delta) => mergeMessageUsage(before, { output_tokens: 10, ...delta }, start),
      start as JsonObject,
    );
    const { inputTokens = 0, cachedInputTokens = 0 } = readMessageUsage(usage)?.tokens ?? {};
    return [inputTokens, cachedInputTokens];
  });
  expect(ways[0]).toEqual(ways[1]);
  return ways[0]!;
}

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
    expect(readMessageUsage(mergeMessageUsage(start, delta, start))).toEqual(whole);
  });

  it.each([
    ["none", {}],
    ["null", { output_tokens: null, input_tokens: null }],
    ["negative", { output_tokens: -1, input_tokens: -1 }],
    ["fractional", { output_tokens: 200.5, input_tokens: 2_000.5 }],
    ["a text", { output_tokens: "200", input_tokens: "2000" }],
    ["less than before", { output_tokens: 99, input_tokens: 0, cache_read_input_tokens: 0 }],
    ["the whole prompt in one figure", { input_tokens: 1_000, output_tokens: 100 }],
    ["the same, without lifetimes", { ...message, cache_creation: undefined }],
  ])("does not change with figures that are %s", (_name, delta) => {
    expect(readMessageUsage(mergeMessageUsage(message, delta, message))).toEqual(whole);
  });

  it.each([
    ["a split of what the start guessed", { input_tokens: 18, cache_read_input_tokens: 8_831 }, 18, 8_831],
    ["cached tokens alone", { cache_read_input_tokens: 8_831 }, 29, 8_831],
    ["cached tokens beside a null", { input_tokens: null, cache_read_input_tokens: 8_831 }, 29, 8_831],
    ["cached tokens beside a 0", { input_tokens: 0, cache_read_input_tokens: 8_831 }, 29, 8_831],
    ["more cached tokens than the guess", { input_tokens: 0, cache_read_input_tokens: 9_000 }, 0, 9_000],
    ["a larger prompt", { input_tokens: 9_000, cache_read_input_tokens: 0 }, 9_000, 0],
    ["no prompt", {}, 8_860, 0],
  ])("counts a prompt once when the delta has %s", (_name, figures, input, cached) => {
    const delta = { output_tokens: 10, ...figures };
    expect(mergeAll(8_860, [delta])).toEqual([input, cached]);
    expect(mergeAll(8_860, [delta, delta])).toEqual([input, cached]);
  });

  it.each([
    ["cached tokens that grow", [{ cache_read_input_tokens: 8_000 }, { cache_read_input_tokens: 8_831 }], 29],
    [
      "cached tokens, then written ones",
      [
        { cache_read_input_tokens: 8_831 },
        { cache_read_input_tokens: 8_831, cache_creation_input_tokens: 9 },
      ],
      29,
    ],
    [
      "the split, then the cached tokens",
      [{ input_tokens: 18, cache_read_input_tokens: 8_831 }, { cache_read_input_tokens: 8_831 }],
      18,
    ],
    [
      "the split, then the whole prompt",
      [
        { input_tokens: 18, cache_read_input_tokens: 8_831 },
        { input_tokens: 8_849, cache_read_input_tokens: 8_831 },
      ],
      18,
    ],
    ["the whole prompt as input", [{ input_tokens: 8_860, cache_read_input_tokens: 8_831 }], 29],
    [
      "the whole prompt, then the cached tokens",
      [{ input_tokens: 8_860 }, { cache_read_input_tokens: 8_831 }],
      29,
    ],
  ])("counts cached tokens once when deltas have %s", (_name, deltas, input) => {
    for (const told of [deltas, [...deltas, ...deltas.slice(-1)]]) {
      expect(mergeAll(8_860, told)).toEqual([input, 8_831]);
    }
  });

  it("counts cached tokens once when the delta repeats them and the whole prompt as input", () => {
    const start = { input_tokens: 29, cache_read_input_tokens: 8_831, output_tokens: 0 };
    const merged = mergeMessageUsage(start, { ...start, input_tokens: 8_860, output_tokens: 10 }, start);
    expect(readMessageUsage(merged)?.tokens).toMatchObject({ inputTokens: 29, cachedInputTokens: 8_831 });
  });

  it("counts cached tokens beside the input of a prompt that has grown", () => {
    expect(mergeAll(100, [{ input_tokens: 2_500, cache_read_input_tokens: 1_000 }])).toEqual([2_500, 1_000]);
  });

  it("takes what the delta has beside the prompt, whichever prompt counts", () => {
    const merged = mergeMessageUsage(
      { ...message, speed: "standard" },
      { input_tokens: 1, iterations: [] },
      message,
    );
    expect(merged).toMatchObject({ input_tokens: 100, iterations: [], speed: "standard" });
  });
});
