import type { JsonObject } from "../../../../shared/text/json-object.ts";
import type { ParsedRequest } from "../../conversation/parsed-request.ts";
import type { Compaction, ReasoningDisplay } from "../answer-settings.ts";
import type { ToolTable } from "../tool-table.ts";

/** A validated Responses request: the common fields, and settings for its answer. */
export interface ParsedResponsesRequest extends ParsedRequest {
  readonly toolTable: ToolTable;
  readonly reasoning: ReasoningDisplay;
  /** Whether the client wants packed reasoning to send back. */
  readonly wantsCarrier: boolean;
  /** Null: the request is for an answer. */
  readonly compaction: Compaction | null;
  readonly repeatedFields: JsonObject;
}

/** Whether the client requests an answer, the number of input tokens, or (`compact`) a summary of the conversation. */
export type RequestPurpose = "answer" | "input_tokens" | "compact";
