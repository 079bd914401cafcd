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

/** Body that goes upstream. */
export interface UpstreamForm {
  readonly byteLength: number;
  /** Adds an output limit, as strict caps require. @throws GatewayError 400 if that is impossible. */
  becomeStrict(): void;
  /**
   * Returns the body's length with this lower output limit. Null: the body has no output limit. Call
   * `becomeStrict` first.
   */
  lengthAt(tokens: number): number | null;
  /** Lowers the output limit of each answer; everything else stays unchanged. */
  lowerOutput(tokens: number): void;
  /** Tokens of each answer that the request reserves for thinking; 0: unspecified. */
  readonly thinkingBudget: number;
}

/** Size of a prompt before the upstream has counted it. */
export interface EstimatedPrompt {
  /** Bytes for learning tokens per byte; null if the bytes say nothing about the tokens. */
  readonly promptBytes: number | null;
  /** Bytes of visible text in the prompt, for its minimum token count. */
  readonly promptVisibleTextBytes: number;
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
    promptVisibleTextBytes: promptTokens === null ? visibleTextBytes : 0,
    estimatedInputTokens: bound(estimate, prompt, estimator),
  };
}

/** Measures what the maximum token count of a prompt depends on. Measuring takes time. */
export function describeLargestPrompt(
  { admission, model, request, upstream }: SentPrompt,
  estimator: Pick<Estimator, "overheadTokens">,
): LargestPrompt {
  const { hasTools } = request.promptSize();
  const learnedOverheadTokens = estimator.overheadTokens(subjectOf(admission, model), hasTools);
  return { request, upstreamBytes: upstream.byteLength, learnedOverheadTokens, model };
}

/** Bounds an estimate by what strict caps reserve: one token per byte that goes upstream, plus the chat template. */
function bound(estimate: number, prompt: SentPrompt, estimator: Estimator): number {
  const { model, request, upstream } = prompt;
  if (estimate <= upstream.byteLength) return Math.min(estimate, request.prompts * model.contextWindow);
  return Math.min(estimate, largestPromptTokens(describeLargestPrompt(prompt, estimator)));
}
