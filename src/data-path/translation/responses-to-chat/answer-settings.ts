import type { ConversationSettings } from "../upstream/conversation-answer.ts";
import type { JsonObject } from "../../../shared/text/json-object.ts";
import type { CreateId } from "./ids.ts";
import type { ToolTable } from "./tool-table.ts";

/**
 * How the client sees the model's reasoning. `content`: as it is; `summary`: the same text in place of a summary,
 * because many clients only show summaries; `hidden`: not at all.
 */
export type ReasoningDisplay = "content" | "summary" | "hidden";

/** A summary of the conversation, generated instead of an answer. */
export interface Compaction {
  /** User messages that the answer of `compact` repeats; null: the summary is an item of a response. */
  readonly userMessages: readonly JsonObject[] | null;
}

/** Facts about the request that the translation of its answer needs. */
export interface AnswerSettings extends ConversationSettings {
  readonly reasoning: ReasoningDisplay;
  /** Whether reasoning is also packed for the client to send back. */
  readonly carriesReasoning: boolean;
  /** Maps flat names, the results of `toolNames`, to the client's tools. */
  readonly toolTable: ToolTable;
  /** Null: the model answers. */
  readonly compaction: Compaction | null;
  /** Request fields that the response repeats. */
  readonly repeatedFields: JsonObject;
  /** Unix seconds. */
  readonly createdAt: number;
  /** Returns Unix seconds. */
  readonly now: () => number;
  readonly createId: CreateId;
}
