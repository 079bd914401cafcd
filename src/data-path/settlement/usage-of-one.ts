/**
 * Detects a response with several answers whose usage covers only one of them. llama.cpp reports usage in this way,
 * and so does LiteLLM for some providers. The response does not show it, except that the figures are far too small
 * for the generated text.
 */
import type { ClientRequest } from "../translation/client-protocol.ts";
import { promptTokensOf } from "../pricing/rates.ts";
import type { TokenUsage } from "../../shared/usage/token-usage.ts";

/** Number of answers requested, and number of prompts. */
export type RequestedAnswers = Pick<ClientRequest, "choices" | "prompts">;

/**
 * Reported tokens below this fraction of the estimate cover one answer only. Correct figures are slightly below the
 * estimate if the model's vocabulary is more efficient; one of two answers of equal length has half.
 */
const MIN_SHARE = 3 / 4;

/** @param expectedTokens Estimate for all answers together. */
export function isUsageOfOne({ outputTokens }: TokenUsage, expectedTokens: number): boolean {
  return outputTokens < expectedTokens * MIN_SHARE;
}

/** Returns the usage including all prompts: such servers report only one prompt as well. */
export function withAllPrompts(
  usage: TokenUsage,
  estimatedInputTokens: number,
  { prompts }: RequestedAnswers,
): TokenUsage {
  const missing = prompts > 1 ? Math.max(0, estimatedInputTokens - promptTokensOf(usage)) : 0;
  return { ...usage, inputTokens: usage.inputTokens + missing };
}
