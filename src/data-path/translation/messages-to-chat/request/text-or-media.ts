import { createTextParts, type TextOrMedia, type TextPart } from "../../conversation/parts.ts";
import { type Block, readText, readTexts } from "./blocks.ts";
import { parseDocument } from "./document.ts";
import { parseImage } from "./image.ts";
import { readOptionalString } from "../../json/read-field.ts";

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

/** Converts a search result to text in a `<search_result>` element with source and title. @throws GatewayError 400 */
function parseSearchResult({ fields, path }: Block): TextPart {
  const attributes = ["source", "title"].map((name) => {
    const value = readOptionalString(fields[name], `${path}.${name}`) ?? "";
    return value === "" ? "" : ` ${name}="${value.replaceAll('"', "&quot;")}"`;
  });
  const texts = readTexts(fields["content"] ?? "", `${path}.content`);
  const lines = [`<search_result${attributes.join("")}>`, ...texts, "</search_result>"];
  return { kind: "text", text: lines.join("\n") };
}
