/**
 * Detects usage of a single answer in a response with several: llama.cpp reports it so, and LiteLLM in front
 * of some providers. Nothing in the response says so; the figures are just far too small for all that was
 * generated.
 */
import type { ClientRequest } from "../translation/client-protocol.ts";
import { promptTokensOf } from "../pricing/rates.ts";
import type { TokenUsage } from "../../shared/usage/token-usage.ts";

/** Number of answers requested, and number of prompts. */
export type RequestedAnswers = Pick<ClientRequest, "choices" | "prompts">;

/**
 * Correct figures are below an estimate only if the model's vocabulary is better than the estimate's, and not
 * by this much. With two answers of equal length, one is half.
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
