/** Size of a prompt before the upstream has counted it: what can be estimated, and later learned, from its bytes. */
import type { ClientRequest } from "../../translation/client-protocol.ts";
import { SHORT_BYTES, type TemplateSize } from "./learned-template.ts";
import { subjectOf, type TokenEstimator } from "./token-estimator.ts";
import {
  configuredOverheadTokens,
  describeLargestPrompt,
  largestPromptTokens,
  type SentPrompt,
} from "./worst-case.ts";

/** Smaller bodies cannot contain a relevant image, and measuring takes time. */
const MEASURE_FROM_BYTES = 8_192;
/** Estimate for an image or a file: a photo takes a few hundred to a few thousand tokens. */
export const MEDIA_TOKENS = 1_000;
/** Maximum bytes of text per byte of visible text; above it the text may contain a schema, which no model reads. */
const MAX_TEXT_PER_VISIBLE_BYTE = 2;

export interface EstimatedPrompt {
  /** Bytes for learning tokens per byte; null if the bytes say nothing about the tokens. */
  readonly promptBytes: number | null;
  /** Bytes of visible text in the prompt, for its minimum token count. */
  readonly promptVisibleTextBytes: number;
  readonly estimatedInputTokens: number;
  /** For learning the chat template's tokens; null if the bytes do not allow it. */
  readonly template: TemplateSize | null;
}

interface PromptBytes {
  /** Bytes that tokens can be estimated from. */
  readonly bytes: number;
  /** Minimum number of tokens, in bytes of visible text (`PromptSize.visibleTextBytes`); 0 if not counted. */
  readonly visibleTextBytes: number;
  /** Tokens that bytes cannot predict: those of one image, since images are not counted; 0 without images. */
  readonly mediaTokens: number;
}

type Estimator = Pick<TokenEstimator, "estimatePrompt" | "overheadTokens">;

export function estimatePrompt(prompt: SentPrompt, estimator: Estimator): EstimatedPrompt {
  const { admission, model, request, bodyBytes } = prompt;
  const { promptTokens } = request;
  const { bytes, visibleTextBytes, mediaTokens } = measurePromptBytes(request, bodyBytes);
  const estimate =
    promptTokens ?? estimator.estimatePrompt(subjectOf(admission.caller, model), bytes) + mediaTokens;
  return {
    promptBytes: mediaTokens === 0 && promptTokens === null ? bytes : null,
    promptVisibleTextBytes: promptTokens === null ? visibleTextBytes : 0,
    estimatedInputTokens: bound(estimate, prompt, estimator),
    template: measureTemplate(prompt),
  };
}

/** Measures the text bytes of a request: a picture's base64 has far fewer tokens than its length suggests. */
export function measurePromptBytes(
  request: Pick<ClientRequest, "promptSize">,
  bodyBytes: number,
): PromptBytes {
  if (bodyBytes < MEASURE_FROM_BYTES) return { bytes: bodyBytes, visibleTextBytes: 0, mediaTokens: 0 };
  const { hasMedia, textBytes, visibleTextBytes } = request.promptSize();
  return hasMedia
    ? { bytes: textBytes, visibleTextBytes, mediaTokens: MEDIA_TOKENS }
    : { bytes: bodyBytes, visibleTextBytes, mediaTokens: 0 };
}

/** Measures a prompt whose tokens will show the chat template's, which strict caps must reserve in advance. */
export function measureTemplate(prompt: SentPrompt): TemplateSize | null {
  const { admission, model, request, upstream } = prompt;
  const upstreamBytes = upstream.byteLength;
  // Measuring takes time, and long texts hide a template.
  if (!admission.limits.isStrict && upstreamBytes > SHORT_BYTES) return null;
  const { hasMedia, hasTools, messages, isWhole, textBytes, visibleTextBytes } = request.promptSize();
  // Prompts and texts that are not messages have no chat template; additions of the model server (a search,
  // its own tool, a stored file) are not part of a template.
  if (hasMedia || messages === 0 || !isWhole) return null;
  const conversationBytes = visibleTextBytes * MAX_TEXT_PER_VISIBLE_BYTE >= textBytes ? textBytes : null;
  const configuredTokens = configuredOverheadTokens(model, hasTools);
  return { upstreamBytes, conversationBytes, hasTools, configuredTokens };
}

/** Bounds an estimate by what strict caps reserve: one token per byte that goes upstream, plus the chat template. */
function bound(estimate: number, prompt: SentPrompt, estimator: Estimator): number {
  const { model, request, upstream } = prompt;
  if (estimate <= upstream.byteLength) return Math.min(estimate, request.prompts * model.contextWindow);
  return Math.min(estimate, largestPromptTokens(describeLargestPrompt(prompt, estimator)));
}
