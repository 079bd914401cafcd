/**
 * The Messages protocol as written by this gateway: a message and its stream events. Fields that are always null are
 * included, because older SDKs declare them as present.
 * @see https://docs.anthropic.com/en/api/messages and `resources/messages` of @anthropic-ai/sdk 1.11.0
 */
import type { MessageDeltaUsage, MessageUsage } from "./usage.ts";

export interface Message {
  readonly id: string;
  readonly type: "message";
  readonly role: "assistant";
  /** Catalog id as the client requested it. */
  readonly model: string;
  readonly content: readonly ContentBlock[];
  readonly stop_reason: StopReason | null;
  readonly stop_sequence: string | null;
  readonly stop_details: RefusalDetails | null;
  readonly container: null;
  readonly diagnostics: null;
  readonly usage: MessageUsage;
}

/** Without `citations` and `caller`: null values there break the Vercel AI SDK 6. */
export type ContentBlock = TextBlock | ThinkingBlock | RedactedThinkingBlock | ToolUseBlock;

export interface TextBlock {
  readonly type: "text";
  readonly text: string;
}

export interface ThinkingBlock {
  readonly type: "thinking";
  readonly thinking: string;
  readonly signature: string;
}

export interface RedactedThinkingBlock {
  readonly type: "redacted_thinking";
  readonly data: string;
}

export interface ToolUseBlock {
  readonly type: "tool_use";
  readonly id: string;
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** The protocol's `pause_turn` and `model_context_window_exceeded` are never produced here. */
export type StopReason = "end_turn" | "max_tokens" | "stop_sequence" | "tool_use" | "refusal";

export interface RefusalDetails {
  readonly type: "refusal";
  readonly category: null;
  readonly explanation: string | null;
}

export interface Stop {
  readonly stop_reason: StopReason;
  readonly stop_sequence: string | null;
  readonly stop_details: RefusalDetails | null;
}

export type BlockDelta =
  | { readonly type: "text_delta"; readonly text: string }
  | { readonly type: "thinking_delta"; readonly thinking: string }
  | { readonly type: "signature_delta"; readonly signature: string }
  | { readonly type: "input_json_delta"; readonly partial_json: string };

export type StreamEvent =
  | { readonly type: "ping" }
  | { readonly type: "message_start"; readonly message: Message }
  | { readonly type: "content_block_start"; readonly index: number; readonly content_block: ContentBlock }
  | { readonly type: "content_block_delta"; readonly index: number; readonly delta: BlockDelta }
  | { readonly type: "content_block_stop"; readonly index: number }
  | {
      readonly type: "message_delta";
      readonly delta: Stop & { readonly container: null };
      readonly usage: MessageDeltaUsage;
    }
  | { readonly type: "message_stop" };
