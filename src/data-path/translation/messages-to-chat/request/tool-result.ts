import {
  createTextParts,
  createToolResult,
  type TextOrMedia,
  type ToolResultPart,
} from "../../conversation/parts.ts";
import { readName, readOptionalBoolean } from "../../json/read-field.ts";
import { type Block, parseBlocks, unsupportedBlock } from "./blocks.ts";
import { parseTextOrMedia } from "./text-or-media.ts";

/**
 * Converts a tool's result to the text of a tool message. `is_error` has no counterpart, so a failed result begins
 * with "Error".
 * @throws GatewayError 400
 */
export function parseToolResult({ fields, path }: Block): ToolResultPart {
  const toolUseId = readName(fields["tool_use_id"], `${path}.tool_use_id`);
  const content = parseBlocks(fields["content"] ?? "", `${path}.content`, parseBlock);
  const result = createToolResult(toolUseId, content);
  const isError = readOptionalBoolean(fields["is_error"], `${path}.is_error`) ?? false;
  return isError ? { ...result, text: markError(result.text) } : result;
}

function parseBlock(block: Block): TextOrMedia[] {
  const parts = parseTextOrMedia(block);
  if (parts !== null) return parts;
  if (block.type !== "tool_reference") throw unsupportedBlock(block);
  const name = readName(block.fields["tool_name"], `${block.path}.tool_name`);
  return createTextParts(`Tool available: ${name}`);
}

function markError(text: string): string {
  if (text === "") return "Error";
  return /^\s*error/i.test(text) ? text : `Error: ${text}`;
}
