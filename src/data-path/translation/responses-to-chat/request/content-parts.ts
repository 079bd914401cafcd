import type { JsonObject } from "../../../../shared/text/json-object.ts";
import {
  createTextParts,
  type FilePart,
  type ImagePart,
  type TextOrMedia,
  type TextPart,
} from "../../conversation/parts.ts";
import { invalidField, missingField, quote, unsupportedField } from "../../json/field-error.ts";
import {
  readName,
  readOptionalString,
  readString,
  readTyped,
  type TypedObject,
} from "../../json/read-field.ts";

const TEXT_TYPES: ReadonlySet<string> = new Set(["input_text", "output_text", "text"]);

/** Parses content of a user or a tool: a string, or parts with text, images and files. @throws GatewayError 400 */
export function parseContent(content: unknown, path: string): TextOrMedia[] {
  return parseList(content, path, parsePart);
}

/**
 * Reads content that must be text, of a system, developer or assistant message. Omits empty texts.
 * @throws GatewayError 400 naming the part that is not text.
 */
export function readTexts(content: unknown, path: string): string[] {
  return parseList(content, path, parseTextPart).map(({ text }) => text);
}

/**
 * Parses a message from one Codex agent to another. OpenAI encrypts it; behind this gateway it is the plain argument
 * that the model wrote for its call.
 * @throws GatewayError 400
 */
export function parseAgentContent({ fields, path }: TypedObject): TextOrMedia[] {
  return parseList(fields["content"], `${path}.content`, (part) =>
    part.type === "encrypted_content" ? readText(part, "encrypted_content") : parsePart(part),
  );
}

function parseList<Part>(
  content: unknown,
  path: string,
  parse: (part: TypedObject) => Part[],
): (Part | TextPart)[] {
  if (content === undefined || content === null) throw missingField(path);
  if (typeof content === "string") return createTextParts(content);
  if (!Array.isArray(content)) throw invalidField(path, "Input should be a string or a list of parts");
  return content.flatMap((value: unknown, index) => parse(readTyped(value, `${path}[${index}]`)));
}

function parsePart(part: TypedObject): TextOrMedia[] {
  switch (part.type) {
    case "input_image":
      return [parseImage(part)];
    case "input_file":
      return [parseFile(part)];
    default:
      if (TEXT_TYPES.has(part.type)) return readText(part, "text");
      throw unsupportedPart(part);
  }
}

function parseTextPart(part: TypedObject): TextPart[] {
  if (part.type === "refusal") return readText(part, "refusal");
  if (TEXT_TYPES.has(part.type)) return readText(part, "text");
  throw unsupportedPart(part);
}

function readText({ fields, path }: TypedObject, field: string): TextPart[] {
  return createTextParts(readString(fields[field], `${path}.${field}`));
}

/** A URL is forwarded as it is; the gateway never fetches it. */
function parseImage({ fields, path }: TypedObject): ImagePart {
  refuseStored(fields, path);
  const url = readName(fields["image_url"], `${path}.image_url`);
  const detail = readOptionalString(fields["detail"], `${path}.detail`);
  return { kind: "image", url, detail: mapDetail(detail), path };
}

/** `auto` is every server's default; `original`, larger than `high`, only exists at OpenAI. */
function mapDetail(detail: string | null): string | undefined {
  if (detail === null || detail === "auto") return undefined;
  return detail === "original" ? "high" : detail;
}

function parseFile({ fields, path }: TypedObject): FilePart {
  refuseStored(fields, path);
  if (fields["file_url"] !== undefined && fields["file_url"] !== null) {
    throw unsupportedField(
      `${path}.file_url`,
      "the gateway doesn't fetch files; send the file as `file_data`",
    );
  }
  return {
    kind: "file",
    filename: readOptionalString(fields["filename"], `${path}.filename`) ?? undefined,
    data: readName(fields["file_data"], `${path}.file_data`),
    path,
  };
}

function refuseStored(fields: JsonObject, path: string): void {
  if (fields["file_id"] === undefined || fields["file_id"] === null) return;
  throw unsupportedField(`${path}.file_id`, "this gateway doesn't store files; send the content itself");
}

function unsupportedPart({ type, path }: TypedObject): Error {
  return unsupportedField(path, `unsupported content part type ${quote(type)}`);
}
