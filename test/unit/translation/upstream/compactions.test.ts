import { describe, expect, it } from "vitest";
import { NO_TOKENS } from "../../../../src/shared/usage/token-usage.ts";
import { mergeMessageUsage, readMessageUsage } from "../../../../src/data-path/translation/upstream/usage.ts";

describe("compactions of a message", () => {
  const compaction = {
    type: "compaction",
    input_tokens: 900,
    output_tokens: 40,
    cache_read_input_tokens: 7,
    cache_creation_input_tokens: 3,
  };
  const own = {
    input_tokens: 10,
    output_tokens: 5,
    iterations: [compaction, { type: "message", input_tokens: 10 }],
  };

  it("are counted beside it, since its own figures leave them out", () => {
    expect(readMessageUsage(own)?.tokens).toEqual({
      ...NO_TOKENS,
      inputTokens: 913,
      cachedInputTokens: 7,
      cacheWriteTokens: 3,
      outputTokens: 45,
    });
    expect(readMessageUsage({ ...own, iterations: null })?.tokens).toMatchObject({ inputTokens: 10 });
    expect(readMessageUsage({ ...own, input_tokens: -1 })).toBeNull();
  });

  it("of a stream are told at its end", () => {
    const start = { input_tokens: 10, output_tokens: 0 };
    expect(readMessageUsage(mergeMessageUsage(start, own, start))?.tokens.outputTokens).toBe(45);
  });
});
