import * as fc from "fast-check";
import type { TokenUsage } from "../../../src/shared/usage/token-usage.ts";

/** The parts that usage is made of, no token in two of them. */
export interface UsageParts {
  readonly plain: number;
  readonly cached: number;
  readonly written: number;
  readonly hour: number;
  readonly audio: number;
  readonly text: number;
  readonly thought: number;
  readonly speech: number;
}

/** Usage that contradicts itself in nothing, with up to `max` tokens in each part. */
export function createUsageArbitrary(
  max: number,
): fc.Arbitrary<{ readonly parts: UsageParts; readonly usage: TokenUsage }> {
  const count = fc.integer({ min: 0, max });
  return fc
    .record({
      plain: count,
      cached: count,
      written: count,
      hour: count,
      audio: count,
      text: count,
      thought: count,
      speech: count,
    })
    .map((parts) => ({ parts, usage: addUp(parts) }));
}

function addUp(parts: UsageParts): TokenUsage {
  return {
    inputTokens: parts.plain + parts.written + parts.hour + parts.audio,
    cachedInputTokens: parts.cached,
    cacheWriteTokens: parts.written,
    cacheWrite1hTokens: parts.hour,
    inputAudioTokens: parts.audio,
    outputTokens: parts.text + parts.thought + parts.speech,
    reasoningTokens: parts.thought,
    outputAudioTokens: parts.speech,
  };
}
