/** Tool calls of earlier turns, and their outputs. */
import { isJsonObject, type JsonObject } from "../../../../shared/text/json-object.ts";
import { createToolResult, type ToolResultPart, type ToolUsePart } from "../../conversation/parts.ts";
import { formatJson } from "../../json/exact-json.ts";
import { tryParseJsonText } from "../../json/parse-json-text.ts";
import { readName, readOptionalArray, readOptionalString, readString } from "../../json/read-field.ts";
import { wrapArguments } from "../../upstream/tool-input.ts";
import type { ToolTable } from "../tool-table.ts";
import { parseContent } from "./content-parts.ts";
import { wrapInput } from "./custom-tool.ts";
import { type Item, listToolNames } from "./items.ts";

/** Matches the beginning of a list of parts. */
const PARTS_AS_TEXT = /^\s*\[\s*\{\s*"(?:type|text|image_url|detail)"\s*:/u;
/** Most structural characters of a text that is parsed as a list of parts. */
const MAX_STRUCTURE = 512;

/** @throws GatewayError 400 */
export function parseFunctionCall({ fields, path }: Item, table: ToolTable): ToolUsePart {
  const given = fields["arguments"];
  const text = isJsonObject(given) ? formatJson(given) : readOptionalString(given, `${path}.arguments`);
  return createCall({ fields, path }, table, formatArguments(text ?? ""));
}

/** @throws GatewayError 400 */
export function parseCustomCall({ fields, path }: Item, table: ToolTable): ToolUsePart {
  return createCall({ fields, path }, table, wrapInput(readString(fields["input"], `${path}.input`)));
}

/** @throws GatewayError 400 */
export function parseToolSearchCall({ fields, path }: Item, table: ToolTable): ToolUsePart {
  const given = fields["arguments"];
  const text = typeof given === "string" ? given : formatJson(given ?? {});
  return {
    kind: "tool_use",
    id: readName(fields["call_id"], `${path}.call_id`),
    name: table.flatten(null, "tool_search"),
    arguments: formatArguments(text),
  };
}

/** Parses the output of a function or a custom tool: text, images and files. @throws GatewayError 400 */
export function parseCallOutput({ fields, path }: Item): ToolResultPart {
  const id = readName(fields["call_id"], `${path}.call_id`);
  return createToolResult(id, parseContent(readOutput(fields["output"] ?? ""), `${path}.output`));
}

/**
 * Software between Codex and this gateway sends a list of parts as its JSON text. Read as text, an image in it would
 * cost a million useless tokens, so it is parsed as the list. A text without an image, or with anything else, stays
 * the tool's text.
 */
function readOutput(output: unknown): unknown {
  if (typeof output !== "string" || !PARTS_AS_TEXT.test(output) || !isOfFewParts(output)) return output;
  const parts = tryParseJsonText(output);
  if (!Array.isArray(parts) || !parts.every(isPart) || !parts.some(isPicture)) return output;
  return parts;
}

/**
 * Returns whether the text may be a short list of parts. Has few structural characters then; a text with more is
 * not parsed to find out.
 */
function isOfFewParts(text: string): boolean {
  const structure = /[{[,]/gu;
  let count = 0;
  while (count <= MAX_STRUCTURE && structure.test(text)) count += 1;
  return count <= MAX_STRUCTURE;
}

const isPart = (part: unknown): boolean =>
  isJsonObject(part) && (part["type"] === "input_image" || part["type"] === "input_text");

const isPicture = (part: JsonObject): boolean => {
  const url = part["image_url"];
  return part["type"] === "input_image" && typeof url === "string" && url.startsWith("data:image/");
};

/** Tools that the client found are declared together with all others; the model only gets their names here. */
export function parseToolSearchOutput({ fields, path }: Item): ToolResultPart {
  const id = readName(fields["call_id"], `${path}.call_id`);
  const names = listToolNames(readOptionalArray(fields["tools"], `${path}.tools`) ?? []);
  const text = names.length === 0 ? "No tools found." : `Tools available: ${names.join(", ")}`;
  return createToolResult(id, [{ kind: "text", text }]);
}

function createCall({ fields, path }: Omit<Item, "type">, table: ToolTable, args: string): ToolUsePart {
  const name = readName(fields["name"], `${path}.name`);
  const namespace = readOptionalString(fields["namespace"], `${path}.namespace`);
  return {
    kind: "tool_use",
    id: readName(fields["call_id"], `${path}.call_id`),
    name: table.flatten(namespace, name),
    arguments: args,
  };
}

/**
 * Makes arguments valid for every chat template. Clients send a model's malformed arguments back, and templates that
 * parse them would fail for every further request of the conversation.
 */
function formatArguments(text: string): string {
  if (text.trim() === "") return "{}";
  return isJsonObject(tryParseJsonText(text)) ? text : formatJson(wrapArguments(text));
}
