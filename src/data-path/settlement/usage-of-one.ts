/**
 * Several answers to one request, of which the server tells the usage of one: llama.cpp does so, and LiteLLM before some
 * providers. Nothing in such a usage says so. It is known by being far too small for all that was generated.
 */
import type { ClientRequest } from "../translation/client-protocol.ts";
import { promptTokensOf } from "../pricing/rates.ts";
import type { TokenUsage } from "../../shared/usage/token-usage.ts";

/** How many answers were asked for, and to how many prompts. */
export type Asked = Pick<ClientRequest, "choices" | "prompts">;

/**
 * A true figure is below an estimate only where the model's vocabulary is better than what the estimate rests on: not by so
 * much. Of two answers of one length, one is half.
 */
const LEAST_SHARE = 3 / 4;

/** @param expectedTokens What several answers together are estimated at. */
export function isUsageOfOne({ outputTokens }: TokenUsage, expectedTokens: number): boolean {
  return outputTokens < expectedTokens * LEAST_SHARE;
}

/** The same usage with all prompts: where there are several, it tells of one as well. */
export function withAllPrompts(
  usage: TokenUsage,
  estimatedInputTokens: number,
  { prompts }: Asked,
): TokenUsage {
  const missing = prompts > 1 ? Math.max(0, estimatedInputTokens - promptTokensOf(usage)) : 0;
  return { ...usage, inputTokens: usage.inputTokens + missing };
}
