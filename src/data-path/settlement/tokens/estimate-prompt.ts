import type { Model } from "../../catalog/catalog.ts";
import type { Admission } from "../../limits/admission.ts";
import type { ClientRequest } from "../../translation/client-protocol.ts";
import { measurePromptBytes } from "./prompt-bytes.ts";
import { subjectOf, type TokenEstimator } from "./token-estimator.ts";
import { type LargestPrompt, largestPromptTokens } from "./worst-case.ts";

export interface SentPrompt {
  readonly admission: Admission;
  readonly model: Model;
  readonly request: ClientRequest;
  readonly bodyBytes: number;
  readonly upstream: UpstreamForm;
}

/** The body that goes upstream. */
export interface UpstreamForm {
  readonly byteLength: number;
  /** Gives it the form that strict caps demand. @throws GatewayError 400 where it has none. */
  becomeStrict(): void;
  /**
   * How long it would be with this limit of each answer in place of its larger one. Null: it has no such limit. Of a body
   * that is in the form of strict caps.
   */
  lengthAt(tokens: number): number | null;
  /** Gives it this limit of each answer in place of its larger one; all else stays as it is. */
  lowerOutput(tokens: number): void;
  /** Tokens of each answer that the request sets aside for thinking; 0: none that it says. */
  readonly thinkingBudget: number;
}

/** What is known of a prompt before the upstream has counted it. */
export interface EstimatedPrompt {
  /** What the prompt's tokens can be learned from; null when its bytes say nothing about them. */
  readonly promptBytes: number | null;
  /** Bytes of the prompt that are tokens for certain, for the fewest that it can have. */
  readonly promptInkBytes: number;
  readonly estimatedInputTokens: number;
}

type Estimator = Pick<TokenEstimator, "estimatePrompt" | "overheadTokens">;

export function estimatePrompt(prompt: SentPrompt, estimator: Estimator): EstimatedPrompt {
  const { admission, model, request, bodyBytes } = prompt;
  const { promptTokens } = request;
  const { bytes, visibleTextBytes, mediaTokens } = measurePromptBytes(request, bodyBytes);
  const estimate = promptTokens ?? estimator.estimatePrompt(subjectOf(admission, model), bytes) + mediaTokens;
  return {
    promptBytes: mediaTokens === 0 && promptTokens === null ? bytes : null,
    promptInkBytes: promptTokens === null ? visibleTextBytes : 0,
    estimatedInputTokens: bound(estimate, prompt, estimator),
  };
}

/** What the most tokens of a prompt depend on. Measures the prompt, which is not for free. */
export function describeLargestPrompt(
  { admission, model, request, upstream }: SentPrompt,
  estimator: Pick<Estimator, "overheadTokens">,
): LargestPrompt {
  const { hasTools } = request.promptSize();
  const learnedOverheadTokens = estimator.overheadTokens(subjectOf(admission, model), hasTools);
  return { request, upstreamBytes: upstream.byteLength, learnedOverheadTokens, model };
}

/** Never more than strict caps hold for it: a token for each byte that goes upstream, and the chat template. */
function bound(estimate: number, prompt: SentPrompt, estimator: Estimator): number {
  const { model, request, upstream } = prompt;
  if (estimate <= upstream.byteLength) return Math.min(estimate, request.prompts * model.contextWindow);
  return Math.min(estimate, largestPromptTokens(describeLargestPrompt(prompt, estimator)));
}
