/**
 * The Responses protocol as written by this gateway: a response, its items and its stream events. Lists that are
 * always empty are included, because clients' types require them.
 * @see https://platform.openai.com/docs/api-reference/responses and `resources/responses` of openai 6.49.0
 */
import type { JsonObject } from "../../../shared/text/json-object.ts";
import type { ResponseUsage } from "./usage.ts";

export type ItemStatus = "in_progress" | "completed" | "incomplete";

/** The variable part of a response; repeated request fields are added when it is formatted. */
export interface ResponseObject {
  readonly id: string;
  readonly object: "response";
  /** Unix seconds. */
  readonly created_at: number;
  readonly completed_at: number | null;
  readonly status: "in_progress" | "completed" | "incomplete" | "failed";
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly incomplete_details: { readonly reason: "max_output_tokens" | "content_filter" } | null;
  /** Catalog id as the client requested it. */
  readonly model: string;
  readonly output: readonly OutputItem[];
  readonly usage: ResponseUsage | null;
  /** The last tier that the upstream named, otherwise "default". */
  readonly service_tier: string;
}

export type OutputItem = MessageItem | ReasoningItem | CallItem | CompactionItem;

export interface MessageItem {
  readonly id: string;
  readonly type: "message";
  readonly role: "assistant";
  readonly status: ItemStatus;
  readonly content: readonly MessagePart[];
}

export type MessagePart = TextPart | RefusalPart;

export interface TextPart {
  readonly type: "output_text";
  readonly text: string;
  readonly annotations: readonly [];
  readonly logprobs: readonly JsonObject[];
}

export interface RefusalPart {
  readonly type: "refusal";
  readonly refusal: string;
}

export interface ReasoningItem {
  readonly id: string;
  readonly type: "reasoning";
  readonly status: ItemStatus;
  readonly summary: readonly SummaryPart[];
  /** Absent if the text is in the summary. */
  readonly content?: readonly ReasoningTextPart[];
  readonly encrypted_content?: string;
}

export interface CompactionItem {
  readonly id: string;
  readonly type: "compaction";
  readonly encrypted_content: string;
}

/** `namespace` is absent for a tool outside of namespaces. */
export type CallItem = FunctionCallItem | CustomCallItem | ToolSearchItem;

export interface FunctionCallItem {
  readonly id: string;
  readonly type: "function_call";
  readonly call_id: string;
  readonly name: string;
  readonly namespace?: string;
  readonly arguments: string;
  readonly status: ItemStatus;
}

export interface CustomCallItem {
  readonly id: string;
  readonly type: "custom_tool_call";
  readonly call_id: string;
  readonly name: string;
  readonly namespace?: string;
  readonly input: string;
  readonly status: ItemStatus;
}

export interface ToolSearchItem {
  readonly id: string;
  readonly type: "tool_search_call";
  readonly execution: "client";
  readonly call_id: string;
  readonly arguments: JsonObject;
  readonly status: ItemStatus;
}

/** Place of an event's item. */
interface ItemPlace {
  readonly item_id: string;
  readonly output_index: number;
}

interface PartPlace extends ItemPlace {
  readonly content_index: number;
}

interface SummaryPlace extends ItemPlace {
  readonly summary_index: number;
}

interface ReasoningTextPart {
  readonly type: "reasoning_text";
  readonly text: string;
}

interface SummaryPart {
  readonly type: "summary_text";
  readonly text: string;
}

interface ItemFields {
  readonly output_index: number;
  readonly item: OutputItem;
}

/** Fields of events about an item, by type. */
interface ItemEvents {
  "response.output_item.added": ItemFields;
  "response.output_item.done": ItemFields;
  "response.content_part.added": PartPlace & { readonly part: MessagePart | ReasoningTextPart };
  "response.content_part.done": PartPlace & { readonly part: MessagePart | ReasoningTextPart };
  "response.output_text.delta": PartPlace & {
    readonly delta: string;
    readonly logprobs: readonly JsonObject[];
  };
  "response.output_text.done": PartPlace & {
    readonly text: string;
    readonly logprobs: readonly JsonObject[];
  };
  "response.refusal.delta": PartPlace & { readonly delta: string };
  "response.refusal.done": PartPlace & { readonly refusal: string };
  "response.reasoning_text.delta": PartPlace & { readonly delta: string };
  "response.reasoning_text.done": PartPlace & { readonly text: string };
  "response.reasoning_summary_part.added": SummaryPlace & { readonly part: SummaryPart };
  "response.reasoning_summary_part.done": SummaryPlace & { readonly part: SummaryPart };
  "response.reasoning_summary_text.delta": SummaryPlace & { readonly delta: string };
  "response.reasoning_summary_text.done": SummaryPlace & { readonly text: string };
  "response.function_call_arguments.delta": ItemPlace & { readonly delta: string };
  "response.function_call_arguments.done": ItemPlace & { readonly arguments: string; readonly name: string };
  "response.custom_tool_call_input.delta": ItemPlace & { readonly delta: string };
  "response.custom_tool_call_input.done": ItemPlace & { readonly input: string };
}

/** `sequence_number` is added when the event is formatted. */
export type ItemEvent = {
  [Type in keyof ItemEvents]: { readonly type: Type } & ItemEvents[Type];
}[keyof ItemEvents];

export type ResponseEventType =
  | "response.created"
  | "response.in_progress"
  | "response.completed"
  | "response.incomplete"
  | "response.failed";
