import { unpackCall } from "../../conversation/call-carrier.ts";
import type { ReasoningUnpacker } from "../../conversation/carried-reasoning.ts";
import { formatJson } from "../../json/exact-json.ts";
import { invalidField, quote } from "../../json/field-error.ts";
import { type AssistantPart, createTextParts, type ToolUsePart } from "../../conversation/parts.ts";
import { readName, readObject, readString } from "../../json/read-field.ts";
import { type Block, parseBlocks, readText, readTexts, unsupportedBlock } from "./blocks.ts";

const USER_BLOCKS: ReadonlySet<string> = new Set([
  "tool_result",
  "image",
  "document",
  "search_result",
  "container_upload",
]);

/** Blocks of work by Anthropic's servers in an earlier turn. The answer text after them contains the result. */
const SERVER_BLOCKS = /^(?:(?:server|mcp)_tool_use|mcp_tool_listing|fallback|.+_tool_result)$/;

const GAP: AssistantPart = { kind: "gap" };

/** A summary that replaces everything before it. */
export interface SummaryPart {
  readonly kind: "summary";
  readonly text: string;
}

/** Parses the content of an assistant message: a string (one text block) or blocks. @throws GatewayError 400 */
export function parseAssistantContent(
  content: unknown,
  path: string,
  unpacker: ReasoningUnpacker,
): (AssistantPart | SummaryPart)[] {
  return parseBlocks(content, path, (block) => parseAssistantBlock(block, unpacker));
}

function parseAssistantBlock(block: Block, unpacker: ReasoningUnpacker): (AssistantPart | SummaryPart)[] {
  switch (block.type) {
    case "text":
      return createTextParts(readText(block));
    case "tool_use":
      return [parseToolUse(block)];
    case "thinking":
      return [parseThinkingBlock(block, unpacker)];
    case "redacted_thinking":
      return [unpackCall(block.fields["data"], unpacker) ?? GAP];
    case "compaction":
      return [parseSummary(block)];
    default:
      if (SERVER_BLOCKS.test(block.type)) return [GAP];
      if (!USER_BLOCKS.has(block.type)) throw unsupportedBlock(block);
      throw invalidField(block.path, `${quote(block.type)} blocks are only allowed in user messages`);
  }
}

/** A block without text was hidden from the user; its signature may carry the reasoning. */
function parseThinkingBlock({ fields, path }: Block, unpacker: ReasoningUnpacker): AssistantPart {
  const text = readString(fields["thinking"], `${path}.thinking`);
  const { signature } = fields;
  const thinking = text === "" && typeof signature === "string" ? unpacker.unpack(signature) : text;
  return thinking === "" ? GAP : { kind: "thinking", thinking };
}

/** Parses the summary that Anthropic's server wrote for a long conversation. Without text, summarizing had failed. */
function parseSummary({ fields, path }: Block): AssistantPart | SummaryPart {
  const text = readTexts(fields["content"] ?? "", `${path}.content`).join("");
  return text === "" ? GAP : { kind: "summary", text };
}

function parseToolUse({ fields, path }: Block): ToolUsePart {
  return {
    kind: "tool_use",
    id: readName(fields["id"], `${path}.id`),
    name: readName(fields["name"], `${path}.name`),
    arguments: formatJson(readObject(fields["input"], `${path}.input`)),
  };
}
