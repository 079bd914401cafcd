import type { ConversationSettings } from "../upstream/conversation-answer.ts";
import type { JsonObject } from "../../../shared/text/json-object.ts";
import type { CreateId } from "./ids.ts";
import type { ToolTable } from "./tool-table.ts";

/**
 * What the client sees of the model's reasoning: `content`, its text as it is; `summary`, the same text in the place of a
 * summary, which many clients show alone; `hidden`, nothing.
 */
export type ReasoningDisplay = "content" | "summary" | "hidden";

/** A summary of the conversation is generated, in the place of an answer. */
export interface Compaction {
  /** What the answer of `compact` repeats of the conversation; null: the summary is an item of a response. */
  readonly userMessages: readonly JsonObject[] | null;
}

/** All that the answer's translation needs to know of the request. */
export interface AnswerSettings extends ConversationSettings {
  readonly reasoning: ReasoningDisplay;
  /** Whether reasoning is also packed for the client to give back. */
  readonly carriesReasoning: boolean;
  /** The flat names that `toolNames` leads to, to the client's tools. */
  readonly toolTable: ToolTable;
  /** Null: the model answers. */
  readonly compaction: Compaction | null;
  /** What the response repeats of the request. */
  readonly toldBack: JsonObject;
  /** Unix seconds. */
  readonly createdAt: number;
  /** Unix seconds, when called. */
  readonly now: () => number;
  readonly createId: CreateId;
}
