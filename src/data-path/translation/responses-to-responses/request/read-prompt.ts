import { isJsonObject, toArray, type JsonObject } from "../../../../shared/text/json-object.ts";
import type { RequestBody } from "../../client-protocol.ts";
import { PromptParts } from "../../pass-through/prompt-parts.ts";

/** Fields that are read here. */
const FIELDS = ["instructions", "input", "tools"] as const;

/** Items whose JSON the model reads. */
const TEXT_ITEMS: ReadonlySet<unknown> = new Set([
  "function_call",
  "custom_tool_call",
  "tool_search_call",
  "local_shell_call",
  "apply_patch_call",
  "shell_call",
]);

/** Reads the prompt of a Responses request as far as the gateway needs it. Never throws. */
export function readPrompt(body: RequestBody): PromptParts {
  const parts = new PromptParts();
  const { instructions, input, tools, text } = body.value;
  parts.findRepeated(body, FIELDS);
  parts.findUnknown(body, "responses");
  readItems(instructions, parts);
  readItems(input, parts);
  readTools(tools, parts);
  if (isJsonObject(text)) parts.addJson(text["format"]);
  return parts;
}

function readItems(items: unknown, parts: PromptParts): void {
  parts.addText(items);
  if (typeof items === "string") parts.messages += 1;
  for (const item of toArray(items)) {
    parts.messages += 1;
    if (isJsonObject(item)) readItem(item, parts);
  }
}

/** An item of unknown type may be worth any number of tokens. */
function readItem(item: JsonObject, parts: PromptParts): void {
  const { type, content, output } = item;
  if (type === undefined || type === null || type === "message") readParts(content, parts);
  else if (type === "reasoning") readReasoning(item, parts);
  else if (TEXT_ITEMS.has(type)) parts.addJson(item);
  else if (typeof type === "string" && type.endsWith("_call_output")) readParts(output, parts);
  else if (type === "additional_tools" || type === "tool_search_output") {
    readTools(item["tools"], parts);
  } else parts.media += 1;
}

function readReasoning(
  { summary, content, encrypted_content: encrypted }: JsonObject,
  parts: PromptParts,
): void {
  readParts(content, parts, "addDroppable");
  if (typeof encrypted === "string") parts.addDroppable(encrypted);
  else readParts(summary, parts, "addDroppable");
}

/** Reads a text or content parts; a part without a text is an image, a file or unknown. */
function readParts(content: unknown, parts: PromptParts, add: "addText" | "addDroppable" = "addText"): void {
  parts[add](content);
  for (const part of toArray(content)) {
    if (!isJsonObject(part)) continue;
    const text = part["text"] ?? part["refusal"];
    if (typeof text === "string") parts[add](text);
    else parts.media += 1;
  }
}

function readTools(tools: unknown, parts: PromptParts): void {
  for (const tool of toArray(tools)) {
    parts.hasTools = true;
    if (isJsonObject(tool)) parts.addJson(tool);
  }
}
