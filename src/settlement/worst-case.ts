/**
 * What a request can cost at most, which strict caps hold while it is in flight. It is a bound as long as the upstream
 * keeps its own limits.
 */
import type { Model } from "../catalog/catalog.ts";
import { type Price, costMicrocents } from "../money.ts";
import type { ClientRequest } from "../translation/client-protocol.ts";

/** Role, separators and the like that a chat template adds to each message. */
const TOKENS_PER_MESSAGE = 8;

/** Microcents. A text has at most as many tokens as UTF-8 bytes; media count as a full context window. */
export function worstCaseMicrocents(
  request: Pick<ClientRequest, "promptSize" | "maxOutputTokens" | "choices">,
  model: WorstCaseModel,
  price: Price,
): bigint {
  const size = request.promptSize();
  const overhead = size.hasTools ? model.promptOverheadTokensWithTools : model.promptOverheadTokens;
  const text = size.textBytes + TOKENS_PER_MESSAGE * size.messages + overhead;
  const inputTokens = size.hasMedia ? model.contextWindow : Math.min(model.contextWindow, text);
  const input = price.input > price.cachedInput ? price.input : price.cachedInput;
  return costMicrocents(
    { inputTokens, cachedInputTokens: 0, outputTokens: largestOutputTokens(request, model) },
    { input, cachedInput: input, output: price.output },
  );
}

/** The most tokens that all answers to a request can have together. */
export function largestOutputTokens(
  { maxOutputTokens, choices }: Pick<ClientRequest, "maxOutputTokens" | "choices">,
  model: Pick<Model, "maxOutputTokens">,
): number {
  return choices * Math.min(maxOutputTokens ?? model.maxOutputTokens, model.maxOutputTokens);
}

type WorstCaseModel = Pick<
  Model,
  "contextWindow" | "maxOutputTokens" | "promptOverheadTokens" | "promptOverheadTokensWithTools"
>;
