import type { JsonObject } from "../../../../shared/text/json-object.ts";
import { invalidField, quote, unquoted, unsupportedField } from "../../json/field-error.ts";
import { parseImage } from "./image.ts";
import { createTextParts, type FilePart, type TextOrMedia } from "../../conversation/parts.ts";
import { readName, readObject, readOptionalString, readString } from "../../json/read-field.ts";
import { type Block, parseBlocks, readText, unsupportedBlock } from "./blocks.ts";

const DEFAULT_FILENAME = "document.pdf";

/**
 * Parses a document block. Text documents become text in a `<document>` element with title and context; images in them
 * keep their place; a PDF becomes a file.
 * @throws GatewayError 400, also for a source that would have to be fetched, because a file part has no URL.
 */
export function parseDocument({ fields, path }: Block): TextOrMedia[] {
  const sourcePath = `${path}.source`;
  const source = readObject(fields["source"], sourcePath);
  const title = readOptionalString(fields["title"], `${path}.title`) ?? "";
  const context = readOptionalString(fields["context"], `${path}.context`) ?? "";
  const type = readName(source["type"], `${sourcePath}.type`);
  switch (type) {
    case "text":
      return wrap(title, context, createTextParts(readString(source["data"], `${sourcePath}.data`)));
    case "content":
      return wrap(title, context, parseBlocks(source["content"], `${sourcePath}.content`, parseContentBlock));
    case "base64":
      return [...createTextParts(context), parsePdf(source, title, path)];
    default:
      throw unsupportedField(sourcePath, `${unquoted(type)} sources are not supported for documents`);
  }
}

function parseContentBlock(block: Block): TextOrMedia[] {
  if (block.type === "text") return createTextParts(readText(block));
  if (block.type === "image") return [parseImage(block)];
  throw unsupportedBlock(block);
}

function parsePdf(source: JsonObject, title: string, path: string): FilePart {
  const mediaType = readName(source["media_type"], `${path}.source.media_type`);
  if (mediaType !== "application/pdf") {
    const expectation = `Input should be 'application/pdf', not ${quote(mediaType)}`;
    throw invalidField(`${path}.source.media_type`, expectation);
  }
  const data = readName(source["data"], `${path}.source.data`);
  return {
    kind: "file",
    filename: title === "" ? DEFAULT_FILENAME : title,
    data: `data:application/pdf;base64,${data}`,
    path,
  };
}

/** Adds the element's tags to the first and last text, so that a document of text only is a single text. */
function wrap(title: string, context: string, content: readonly TextOrMedia[]): TextOrMedia[] {
  const opening = title === "" ? "<document>" : `<document title="${title.replaceAll('"', "&quot;")}">`;
  const parts: TextOrMedia[] = [];
  let text = context === "" ? opening : `${opening}\n${context}`;
  for (const part of content) {
    if (part.kind === "text") {
      text += `${text === "" ? "" : "\n"}${part.text}`;
      continue;
    }
    parts.push(...createTextParts(text), part);
    text = "";
  }
  return [...parts, { kind: "text", text: `${text}${text === "" ? "" : "\n"}</document>` }];
}
