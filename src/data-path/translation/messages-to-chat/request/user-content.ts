import { invalidField, quote } from "../../json/field-error.ts";
import type { UserPart } from "../../conversation/parts.ts";
import { type Block, parseBlocks, unsupportedBlock } from "./blocks.ts";
import { parseTextOrMedia } from "./text-or-media.ts";
import { parseToolResult } from "./tool-result.ts";

const ASSISTANT_BLOCKS: ReadonlySet<string> = new Set(["tool_use", "thinking", "redacted_thinking"]);

/** Parses the content of a user message: a string (one text block) or blocks. @throws GatewayError 400 */
export function parseUserContent(content: unknown, path: string): UserPart[] {
  return parseBlocks(content, path, parseUserBlock);
}

function parseUserBlock(block: Block): UserPart[] {
  if (block.type === "tool_result") return [parseToolResult(block)];
  const parts = parseTextOrMedia(block);
  if (parts !== null) return parts;
  if (!ASSISTANT_BLOCKS.has(block.type)) throw unsupportedBlock(block);
  throw invalidField(block.path, `${quote(block.type)} blocks are only allowed in assistant messages`);
}
