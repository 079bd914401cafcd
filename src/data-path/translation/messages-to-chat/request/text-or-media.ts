import { createTextParts, type TextOrMedia } from "../../conversation/parts.ts";
import { type Block, readText } from "./blocks.ts";
import { parseDocument } from "./document.ts";
import { parseImage } from "./image.ts";
import { parseSearchResult } from "./search-result.ts";

/** Parses the blocks that both users and tools send; null for any other. @throws GatewayError 400 */
export function parseTextOrMedia(block: Block): TextOrMedia[] | null {
  switch (block.type) {
    case "text":
      return createTextParts(readText(block));
    case "image":
      return [parseImage(block)];
    case "document":
      return parseDocument(block);
    case "search_result":
      return [parseSearchResult(block)];
    default:
      return null;
  }
}
