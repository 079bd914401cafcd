import { parseDocument } from "./document.ts";
import { parseImage } from "./image.ts";
import {
  createTextParts,
  createToolResult,
  type TextOrMedia,
  type ToolResultPart,
} from "../../conversation/parts.ts";
import { readName, readOptionalBoolean } from "../../json/read-field.ts";
import { parseSearchResult } from "./search-result.ts";
import { type Block, parseBlocks, readText, unsupportedBlock } from "./blocks.ts";

/**
 * A tool's result as the text of a tool message. The flag `is_error` has no counterpart: a failed result says so.
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
  switch (block.type) {
    case "text":
      return createTextParts(readText(block));
    case "image":
      return [parseImage(block)];
    case "document":
      return parseDocument(block);
    case "search_result":
      return [parseSearchResult(block)];
    case "tool_reference": {
      const name = readName(block.fields["tool_name"], `${block.path}.tool_name`);
      return createTextParts(`Tool available: ${name}`);
    }
    default:
      throw unsupportedBlock(block);
  }
}

function markError(text: string): string {
  if (text === "") return "Error";
  return /^\s*error/i.test(text) ? text : `Error: ${text}`;
}
