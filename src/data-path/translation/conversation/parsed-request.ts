import type { ReasoningEffort } from "../../../shared/contract/model-profile.ts";
import type { ChatFunction, ChatResponseFormat } from "./chat-request.ts";
import type { ParsedMessage } from "./parts.ts";

/**
 * A request as every translated protocol reads it from its body: checked, and independent of the model's profile. Null:
 * the client did not say. Fields that are dropped are not in it.
 */
export interface ParsedRequest {
  /** Catalog id as the client wrote it. */
  readonly model: string;
  /** Null where the client need not say, or tokens are only counted. */
  readonly maxTokens: number | null;
  readonly stream: boolean;
  /** The system prompt as one string; empty when there is none. */
  readonly system: string;
  readonly messages: readonly ParsedMessage[];
  /** The field that they stand in, for errors. */
  readonly messagesField: "messages" | "input";
  readonly stopSequences: readonly string[];
  readonly temperature: number | null;
  readonly topP: number | null;
  readonly topK: number | null;
  readonly tools: readonly ChatFunction[];
  readonly toolChoice: ToolChoice | null;
  /** Null: the model's own default applies. */
  readonly reasoningEffort: ReasoningEffort | null;
  readonly responseFormat: ChatResponseFormat | null;
  /** How many alternatives to each token are wanted; null: no log probabilities at all. */
  readonly topLogprobs: number | null;
  readonly userId: string | null;
  /** By which the server chooses a cache of prompts; null where the client's protocol has no such field, too. */
  readonly promptCacheKey: string | null;
  /** The tier that the client wrote; null where its protocol has other tiers than chat completions have. */
  readonly serviceTier: string | null;
}

/** Which tools the model may or must call. */
export interface ToolChoice {
  /** Null: the client did not say. */
  readonly mode: null | "auto" | "required" | "none" | { readonly name: string };
  readonly disablesParallel: boolean;
}
