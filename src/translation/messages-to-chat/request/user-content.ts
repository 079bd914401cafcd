import { parseDocument } from "./document.ts";
import { invalidField, quote } from "../../json/field-error.ts";
import { parseImage } from "./image.ts";
import { createTextParts, type UserPart } from "../../conversation/parts.ts";
import { parseSearchResult } from "./search-result.ts";
import { type Block, parseBlocks, readText, unsupportedBlock } from "./blocks.ts";
import { parseToolResult } from "./tool-result.ts";

const ASSISTANT_BLOCKS: ReadonlySet<string> = new Set(["tool_use", "thinking", "redacted_thinking"]);

/** The content of a user message: a string, which is one text block, or blocks. @throws GatewayError 400 */
export function parseUserContent(content: unknown, path: string): UserPart[] {
  return parseBlocks(content, path, parseUserBlock);
}

function parseUserBlock(block: Block): UserPart[] {
  switch (block.type) {
    case "text":
      return createTextParts(readText(block));
    case "image":
      return [parseImage(block)];
    case "document":
      return parseDocument(block);
    case "search_result":
      return [parseSearchResult(block)];
    case "tool_result":
      return [parseToolResult(block)];
    default:
      if (!ASSISTANT_BLOCKS.has(block.type)) throw unsupportedBlock(block);
      throw invalidField(block.path, `${quote(block.type)} blocks are only allowed in assistant messages`);
  }
}
