import { answerCalls } from "../../conversation/answer-calls.ts";
import { ReasoningUnpacker } from "../../conversation/carried-reasoning.ts";
import { invalidField, missingField, quote } from "../../json/field-error.ts";
import { parseAssistantContent, type SummaryPart } from "./assistant-content.ts";
import { introduceSummary } from "../../conversation/compaction.ts";
import type { AssistantPart, ParsedMessage, UserPart } from "../../conversation/parts.ts";
import { readObject, readOptionalArray } from "../../json/read-field.ts";
import { parseSystemContent } from "./system-content.ts";
import { type Block, parseBlocks, unsupportedBlock } from "./blocks.ts";
import { parseTextOrMedia } from "./text-or-media.ts";
import { parseToolResult } from "./tool-result.ts";

const ASSISTANT_BLOCKS: ReadonlySet<string> = new Set(["tool_use", "thinking", "redacted_thinking"]);

/** Parses the content of a user message: a string (one text block) or blocks. @throws GatewayError 400 */
function parseUserContent(content: unknown, path: string): UserPart[] {
  return parseBlocks(content, path, parseUserBlock);
}

function parseUserBlock(block: Block): UserPart[] {
  if (block.type === "tool_result") return [parseToolResult(block)];
  const parts = parseTextOrMedia(block);
  if (parts !== null) return parts;
  if (!ASSISTANT_BLOCKS.has(block.type)) throw unsupportedBlock(block);
  throw invalidField(block.path, `${quote(block.type)} blocks are only allowed in assistant messages`);
}

/** Parses the list of messages block by block; `order-turns.ts` orders them. @throws GatewayError 400 */
export function parseMessages(value: unknown): ParsedMessage[] {
  const list = readOptionalArray(value, "messages");
  if (list === null) throw missingField("messages");
  const unpacker = new ReasoningUnpacker();
  let messages: ParsedMessage[] = [];
  for (const [index, value] of list.entries()) {
    const message = parseMessage(value, `messages.${index}`, unpacker);
    if (message.role === "assistant") messages = addAssistant(messages, message.parts);
    else messages.push(message);
  }
  if (!messages.some(hasContent)) {
    throw invalidField("messages", "at least one message with content is required");
  }
  return answerCalls(messages);
}

type UserOrSystem = Exclude<ParsedMessage, { readonly role: "assistant" }>;
interface AssistantMessage {
  readonly role: "assistant";
  readonly parts: readonly (AssistantPart | SummaryPart)[];
}

/** Appends an assistant message. A summary in it replaces all messages before it, as in Anthropic's API. */
function addAssistant(before: ParsedMessage[], parts: AssistantMessage["parts"]): ParsedMessage[] {
  const place = parts.findLastIndex(({ kind }) => kind === "summary");
  const rest = parts.slice(place + 1).filter((part) => part.kind !== "summary");
  const summary = parts[place];
  const messages = summary?.kind === "summary" ? [createSummary(summary.text)] : before;
  messages.push({ role: "assistant", parts: rest });
  return messages;
}

function createSummary(text: string): ParsedMessage {
  return { role: "user", parts: [{ kind: "text", text: introduceSummary(text) }] };
}

function parseMessage(
  value: unknown,
  path: string,
  unpacker: ReasoningUnpacker,
): UserOrSystem | AssistantMessage {
  const { role, content } = readObject(value, path);
  const contentPath = `${path}.content`;
  switch (role) {
    case "user":
      return { role, parts: parseUserContent(requireContent(content, contentPath), contentPath) };
    case "assistant": {
      const parts = parseAssistantContent(requireContent(content, contentPath), contentPath, unpacker);
      return { role, parts };
    }
    case "system":
      return { role, text: parseSystemContent(content, contentPath) };
    case undefined:
      throw missingField(`${path}.role`);
    default:
      throw invalidField(`${path}.role`, "Input should be 'user', 'assistant' or 'system'");
  }
}

function requireContent(content: unknown, path: string): unknown {
  if (content === undefined || content === null) throw missingField(path);
  return content;
}

/** Messages of role `system` do not count as content. */
function hasContent(message: ParsedMessage): boolean {
  return message.role !== "system" && message.parts.some(({ kind }) => kind !== "gap");
}
