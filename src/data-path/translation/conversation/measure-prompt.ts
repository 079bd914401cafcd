import type { PromptSize } from "../client-protocol.ts";
import { formatJson } from "../json/exact-json.ts";
import { addVisibleBytes } from "../visible-bytes.ts";
import { PARAGRAPH, type AssistantPart, type ParsedMessage, type UserPart } from "./parts.ts";
import type { ParsedRequest } from "./parsed-request.ts";

/** Computes an upper bound of the upstream's prompt, see `PromptSize`. */
export function measurePrompt(request: ParsedRequest): PromptSize {
  const { system, messages, tools, responseFormat } = request;
  let textBytes = Buffer.byteLength(system);
  let visibleTextBytes = addVisibleBytes(0, system);
  let messageCount = system === "" ? 0 : 1;
  for (const message of messages) {
    textBytes += measureMessage(message);
    visibleTextBytes = addVisible(visibleTextBytes, message);
    messageCount += countMessages(message);
  }
  if (tools.length > 0) textBytes += Buffer.byteLength(formatJson(tools));
  if (responseFormat !== null) textBytes += Buffer.byteLength(formatJson(responseFormat));
  return {
    textBytes,
    visibleTextBytes,
    messages: messageCount,
    hasMedia: messages.some(hasMedia),
    hasTools: tools.length > 0,
    predictionBytes: 0,
    // The gateway writes this prompt, and it accepts no references to external content.
    isWhole: true,
  };
}

/** Counts messages; each tool result becomes one of its own. */
function countMessages(message: ParsedMessage): number {
  if (message.role === "system") return 1;
  return 1 + message.parts.filter(({ kind }) => kind === "tool_result").length;
}

function measureMessage(message: ParsedMessage): number {
  if (message.role === "system") return Buffer.byteLength(message.text) + PARAGRAPH.length;
  let bytes = 0;
  for (const part of message.parts) bytes += measurePart(part) + PARAGRAPH.length;
  return bytes;
}

function addVisible(counted: number, message: ParsedMessage): number {
  if (message.role === "system") return addVisibleBytes(counted, message.text);
  if (message.role === "assistant") return counted;
  let bytes = counted;
  for (const part of message.parts) {
    if (part.kind === "text" || part.kind === "tool_result") bytes = addVisibleBytes(bytes, part.text);
  }
  return bytes;
}

function measurePart(part: UserPart | AssistantPart): number {
  return listTexts(part).reduce((bytes, text) => bytes + Buffer.byteLength(text), 0);
}

function listTexts(part: UserPart | AssistantPart): string[] {
  if (part.kind === "text") return [part.text];
  if (part.kind === "thinking") return [part.thinking];
  if (part.kind === "tool_use") return [part.id, part.name, part.arguments];
  if (part.kind === "tool_result") return [part.toolUseId, part.text];
  if (part.kind === "call_carrier") {
    return [formatJson(part.fields ?? {}), formatJson(part.details), formatJson(part.blocks)];
  }
  return [];
}

function hasMedia(message: ParsedMessage): boolean {
  if (message.role !== "user") return false;
  return message.parts.some(
    (part) =>
      part.kind === "image" || part.kind === "file" || (part.kind === "tool_result" && part.media.length > 0),
  );
}
