import type { JsonObject } from "../../../../shared/text/json-object.ts";
import { SUMMARY_PROMPT } from "../../conversation/compaction.ts";
import type { ParsedMessage } from "../../conversation/parts.ts";
import type { Compaction } from "../answer-settings.ts";
import { type Item, TRIGGER } from "./items.ts";
import type { ParsedResponsesRequest, RequestPurpose } from "./parsed-request.ts";

const PROMPT: ParsedMessage = { role: "user", parts: [{ kind: "text", text: SUMMARY_PROMPT }] };

/** A summary has nothing of what an answer has but its text. */
const TEXT_ALONE = {
  // They stay declared: the upstream has read them before, and its cache begins with them.
  toolChoice: { mode: "none", disablesParallel: false },
  responseFormat: null,
  topLogprobs: null,
  reasoning: "hidden",
  wantsCarrier: false,
} as const;

/** The conversation without the item that asks for its summary. */
export function withoutTrigger(items: readonly Item[]): readonly Item[] {
  return items.at(-1)?.type === TRIGGER ? items.slice(0, -1) : items;
}

/** The summary that is asked for; null: an answer is. @param items As the client sent them. */
export function readCompaction(items: readonly Item[], purpose: RequestPurpose): Compaction | null {
  if (purpose === "compact") return { userMessages: items.flatMap(listUserMessage) };
  return items.at(-1)?.type === TRIGGER ? { userMessages: null } : null;
}

/** The same conversation, with the wish for its summary behind it. */
export function askForSummary(request: ParsedResponsesRequest): ParsedResponsesRequest {
  return { ...request, ...TEXT_ALONE, messages: [...request.messages, PROMPT] };
}

/** The user's message as the answer of `compact` repeats it. */
function listUserMessage({ type, fields }: Item): JsonObject[] {
  const { role, content } = fields;
  if (type !== "message" || role !== "user") return [];
  const parts = typeof content === "string" ? [{ type: "input_text", text: content }] : content;
  return [{ type: "message", role, status: "completed", content: parts }];
}
