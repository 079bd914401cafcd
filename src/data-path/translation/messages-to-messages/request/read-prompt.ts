import { isJsonObject, toArray, type JsonObject } from "../../../../shared/text/json-object.ts";
import type { RequestBody } from "../../client-protocol.ts";
import { PromptParts } from "../../pass-through/prompt-parts.ts";

/** Fields that are read here. */
const FIELDS = ["system", "messages", "tools", "context_management"] as const;
/** Context edits that only remove content. */
const CLEARING = /^clear_/;

/** Reads the prompt of a Messages request as far as the gateway needs it. Never throws. */
export function readPrompt(body: RequestBody): PromptParts {
  const parts = new PromptParts();
  const { system, messages, tools, output_config: outputConfig } = body.value;
  parts.findRepeated(body, FIELDS);
  parts.findUnknown(body, "messages");
  readContent(system, parts);
  for (const message of toArray(messages)) {
    parts.messages += 1;
    if (isJsonObject(message)) readContent(message["content"], parts);
  }
  for (const tool of toArray(tools)) {
    parts.hasTools = true;
    parts.addJson(tool);
  }
  if (isJsonObject(outputConfig)) parts.addJson(outputConfig["format"]);
  findOtherEdits(body.value["context_management"], parts);
  return parts;
}

/** Finds context edits for which the model server first writes a summary and then reads it. */
function findOtherEdits(management: unknown, parts: PromptParts): void {
  if (!isJsonObject(management)) return;
  const { edits, ...rest } = management;
  const wrong = toArray(edits).findIndex((edit) => {
    const type = isJsonObject(edit) ? edit["type"] : null;
    return typeof type !== "string" || !CLEARING.test(type);
  });
  const [other] = Object.keys(rest);
  if (wrong === -1 && other === undefined) return;
  const param = `context_management.${wrong === -1 ? other : `edits.${wrong}`}`;
  parts.unbounded ??= { param, reason: "may have the model server generate more than the response" };
}

function readContent(content: unknown, parts: PromptParts): void {
  parts.addText(content);
  for (const block of toArray(content)) if (isJsonObject(block)) readBlock(block, parts);
}

/** A block of unknown type may be worth any number of tokens. */
function readBlock(block: JsonObject, parts: PromptParts): void {
  switch (block["type"]) {
    case "text":
      parts.addText(block["text"]);
      break;
    case "thinking":
      parts.addDroppable(block["thinking"]);
      // Hidden thinking is carried in the signature.
      if (block["thinking"] === "") parts.addDroppable(block["signature"]);
      break;
    case "redacted_thinking":
      parts.addDroppable(block["data"]);
      break;
    case "tool_use":
      parts.addDroppable(block["name"]);
      parts.addJson(block["input"]);
      break;
    case "tool_reference":
      parts.addText(block["tool_name"]);
      break;
    case "tool_result":
      readContent(block["content"], parts);
      break;
    case "search_result":
      parts.addText(block["source"]);
      parts.addText(block["title"]);
      readContent(block["content"], parts);
      break;
    case "document":
      readDocument(block, parts);
      break;
    default:
      parts.media += 1;
  }
}

function readDocument({ source, title, context }: JsonObject, parts: PromptParts): void {
  parts.addText(title);
  parts.addText(context);
  if (!isJsonObject(source)) return;
  if (source["type"] === "text") parts.addText(source["data"]);
  else if (source["type"] === "content") readContent(source["content"], parts);
  else parts.media += 1;
}
