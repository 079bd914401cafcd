import { isJsonObject, type JsonObject } from "../../../shared/text/json-object.ts";
import { formatJson } from "../json/exact-json.ts";
import { tryParseJsonText } from "../json/parse-json-text.ts";
import { JsonObjectScanner } from "./json-object-scanner.ts";

/**
 * Wraps arguments that are not an object, as Anthropic's documentation does. With `{}` instead, a tool without
 * required arguments would run.
 */
export function wrapArguments(text: string): { readonly INVALID_JSON: string } {
  return { INVALID_JSON: text };
}

/**
 * Converts the arguments of a tool call to the input of a `tool_use` block, which must be an object: strings are
 * parsed, twice if necessary. Of several objects in a row the first counts, as in a stream. Absent arguments, white
 * space and null become `{}`; anything else is wrapped.
 */
export function parseToolInput(value: unknown): JsonObject {
  const text = typeof value === "string" ? value : value === undefined ? "" : formatJson(value);
  const once = readJson(text);
  const input = typeof once === "string" ? readJson(once) : once;
  if (isJsonObject(input)) return input;
  return input === null ? {} : wrapArguments(text);
}

/** Returns undefined for invalid JSON, null for empty text. */
function readJson(text: string): unknown {
  if (/^\s*(?:null\s*)?$/.test(text)) return null;
  const end = new JsonObjectScanner().scan(text);
  return tryParseJsonText(text) ?? tryParseJsonText(text.slice(0, end)) ?? undefined;
}
