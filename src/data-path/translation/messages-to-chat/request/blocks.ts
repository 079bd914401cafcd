import { invalidField, quote, unsupportedField } from "../../json/field-error.ts";
import { createTextParts, type TextPart } from "../../conversation/parts.ts";
import { readString, readTyped, type TypedObject } from "../../json/read-field.ts";

/** One block of a content array. */
export type Block = TypedObject;

/**
 * Parses content: a string (one text block) or a list of blocks.
 * @throws GatewayError 400 if it is neither, and errors of `parse`.
 */
export function parseBlocks<Part>(
  content: unknown,
  path: string,
  parse: (block: Block) => Part[],
): (Part | TextPart)[] {
  if (typeof content === "string") return createTextParts(content);
  if (!Array.isArray(content)) throw invalidField(path, "Input should be a string or a list of blocks");
  return content.flatMap((value: unknown, index) => parse(readTyped(value, `${path}.${index}`)));
}

/** Reads a text block; drops `citations` and `cache_control`. @throws GatewayError 400 */
export function readText(block: Block): string {
  return readString(block.fields["text"], `${block.path}.text`);
}

/**
 * Reads content that must be text: a string or text blocks. Omits empty texts.
 * @throws GatewayError 400 naming the block that is not text.
 */
export function readTexts(content: unknown, path: string): string[] {
  if (typeof content === "string") return content === "" ? [] : [content];
  if (!Array.isArray(content)) throw invalidField(path, "Input should be a string or a list of text blocks");
  return content.flatMap((value: unknown, index) => {
    const block = readTyped(value, `${path}.${index}`);
    if (block.type !== "text") {
      throw invalidField(block.path, `only text blocks are allowed here, not ${quote(block.type)}`);
    }
    const text = readText(block);
    return text === "" ? [] : [text];
  });
}

/** 400: unknown type of block. */
export function unsupportedBlock(block: Block): Error {
  return unsupportedField(block.path, `unsupported content block type ${quote(block.type)}`);
}
