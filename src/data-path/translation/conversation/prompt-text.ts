import { asBuffer } from "../../../shared/text/as-buffer.ts";
import { isJsonObject, toArray } from "../../../shared/text/json-object.ts";
import type { Steps } from "../../../shared/event-loop/steps.ts";
import type { PromptText } from "../client-protocol.ts";
import { decode } from "../json/parse-body.ts";

/**
 * Collects the text of a chat completion body that a tokenizer counts: messages, tools, and the schema of the answer.
 */
export function* readPromptText(body: Uint8Array): Steps<PromptText> {
  const text = decode(asBuffer(body));
  yield;
  const parsed: unknown = JSON.parse(text);
  yield;
  const texts: string[] = [];
  if (!isJsonObject(parsed)) return { text: "", media: 0 };
  const { messages, tools, response_format: responseFormat } = parsed;
  let media = 0;
  for (const message of toArray(messages)) media += readMessage(message, texts);
  for (const tool of toArray(tools)) texts.push(JSON.stringify(isJsonObject(tool) ? tool["function"] : tool));
  if (isJsonObject(responseFormat)) texts.push(JSON.stringify(responseFormat["json_schema"] ?? {}));
  return { text: texts.join("\n"), media };
}

/** Returns the number of images and files. */
function readMessage(message: unknown, texts: string[]): number {
  if (!isJsonObject(message)) return 0;
  const { content, reasoning_content: reasoningContent, reasoning, tool_calls: toolCalls } = message;
  for (const text of [reasoningContent, reasoning, content]) if (typeof text === "string") texts.push(text);
  let media = 0;
  for (const part of toArray(content)) {
    if (isJsonObject(part) && typeof part["text"] === "string") texts.push(part["text"]);
    else media += 1;
  }
  for (const call of toArray(toolCalls)) {
    const called = isJsonObject(call) ? call["function"] : null;
    if (isJsonObject(called)) texts.push(`${String(called["name"])} ${String(called["arguments"])}`);
  }
  return media;
}
