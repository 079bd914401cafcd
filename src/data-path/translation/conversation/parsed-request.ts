import type { ReasoningEffort } from "../../../shared/contract/model-profile.ts";
import type { ChatFunction, ChatResponseFormat } from "./chat-request.ts";
import type { ParsedMessage } from "./parts.ts";

/**
 * A validated request of any translated protocol, independent of the model's profile. Null: the client did not set the
 * field. Fields that are dropped are absent.
 */
export interface ParsedRequest {
  /** Catalog id as the client wrote it. */
  readonly model: string;
  /** Null if the limit is optional and absent, or tokens are only counted. */
  readonly maxTokens: number | null;
  readonly stream: boolean;
  /** System prompt as one string; empty if absent. */
  readonly system: string;
  readonly messages: readonly ParsedMessage[];
  /** The field of `messages` in the client's body, for errors. */
  readonly messagesField: "messages" | "input";
  readonly stopSequences: readonly string[];
  readonly temperature: number | null;
  readonly topP: number | null;
  readonly topK: number | null;
  readonly tools: readonly ChatFunction[];
  readonly toolChoice: ToolChoice | null;
  /** Null: the model's default applies. */
  readonly reasoningEffort: ReasoningEffort | null;
  readonly responseFormat: ChatResponseFormat | null;
  /** Alternatives per token; null: no log probabilities. */
  readonly topLogprobs: number | null;
  readonly userId: string | null;
  /** Key by which the server selects a prompt cache. Also null if the client's protocol has no such field. */
  readonly promptCacheKey: string | null;
  /** The tier as the client wrote it. Null if the client's protocol has different tiers than chat completions. */
  readonly serviceTier: string | null;
}

/** Tools that the model may or must call. */
export interface ToolChoice {
  /** Null: the client did not set it. */
  readonly mode: null | "auto" | "required" | "none" | { readonly name: string };
  readonly disablesParallel: boolean;
}
