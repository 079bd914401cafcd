import type { JsonObject } from "../../../../shared/text/json-object.ts";
import { SUMMARY_PROMPT } from "../../conversation/compaction.ts";
import type { ParsedMessage } from "../../conversation/parts.ts";
import type { Compaction } from "../answer-settings.ts";
import { type Item, TRIGGER } from "./items.ts";
import type { ParsedResponsesRequest, RequestPurpose } from "./parsed-request.ts";

const PROMPT: ParsedMessage = { role: "user", parts: [{ kind: "text", text: SUMMARY_PROMPT }] };

/** Settings of a summary, which consists of text only. */
const TEXT_ONLY = {
  // Tools stay declared: the upstream has read them before, and its prompt cache begins with them.
  toolChoice: { mode: "none", disablesParallel: false },
  responseFormat: null,
  topLogprobs: null,
  reasoning: "hidden",
  wantsCarrier: false,
} as const;

/** Removes the item that requests the summary. */
export function withoutTrigger(items: readonly Item[]): readonly Item[] {
  return items.at(-1)?.type === TRIGGER ? items.slice(0, -1) : items;
}

/** Returns the requested summary; null if the request is for an answer. @param items As the client sent them. */
export function readCompaction(items: readonly Item[], purpose: RequestPurpose): Compaction | null {
  if (purpose === "compact") return { userMessages: items.flatMap(listUserMessage) };
  return items.at(-1)?.type === TRIGGER ? { userMessages: null } : null;
}

/** Appends the request for a summary to the conversation. */
export function askForSummary(request: ParsedResponsesRequest): ParsedResponsesRequest {
  return { ...request, ...TEXT_ONLY, messages: [...request.messages, PROMPT] };
}

/** Returns the user's message as the answer of `compact` repeats it. */
function listUserMessage({ type, fields }: Item): JsonObject[] {
  const { role, content } = fields;
  if (type !== "message" || role !== "user") return [];
  const parts = typeof content === "string" ? [{ type: "input_text", text: content }] : content;
  return [{ type: "message", role, status: "completed", content: parts }];
}
