import type { TextPart } from "../../conversation/parts.ts";
import { readOptionalString } from "../../json/read-field.ts";
import { type Block, readTexts } from "./blocks.ts";

/** Converts a search result to text in a `<search_result>` element with source and title. @throws GatewayError 400 */
export function parseSearchResult({ fields, path }: Block): TextPart {
  const attributes = ["source", "title"].map((name) => {
    const value = readOptionalString(fields[name], `${path}.${name}`) ?? "";
    return value === "" ? "" : ` ${name}="${value.replaceAll('"', "&quot;")}"`;
  });
  const texts = readTexts(fields["content"] ?? "", `${path}.content`);
  const lines = [`<search_result${attributes.join("")}>`, ...texts, "</search_result>"];
  return { kind: "text", text: lines.join("\n") };
}
