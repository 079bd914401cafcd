import type { JsonObject } from "../../../../shared/text/json-object.ts";
import type { ParsedRequest } from "../../conversation/parsed-request.ts";
import type { Compaction, ReasoningDisplay } from "../answer-settings.ts";
import type { ToolTable } from "../tool-table.ts";

/** A Responses request, checked: the conversation as every protocol has it, and what the answer needs to know. */
export interface ParsedResponsesRequest extends ParsedRequest {
  readonly toolTable: ToolTable;
  readonly reasoning: ReasoningDisplay;
  /** Whether the client wants reasoning packed, to give it back. */
  readonly wantsCarrier: boolean;
  /** Null: an answer is asked for. */
  readonly compaction: Compaction | null;
  readonly toldBack: JsonObject;
}

/** What is asked: an answer, how many tokens the input has, or, by `compact`, a summary of the conversation. */
export type RequestPurpose = "answer" | "input_tokens" | "compact";
