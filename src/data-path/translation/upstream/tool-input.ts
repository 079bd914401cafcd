import { isJsonObject, type JsonObject } from "../../../shared/text/json-object.ts";
import { formatJson } from "../json/exact-json.ts";
import { tryParseJsonText } from "../json/parse-json-text.ts";
import { JsonObjectScanner } from "./json-object-scanner.ts";

/**
 * Arguments that are no object as one: what the model wrote under a name of its own, as Anthropic's documentation does.
 * A tool that demands nothing would run with `{}`.
 */
export function wrapArguments(text: string): { readonly INVALID_JSON: string } {
  return { INVALID_JSON: text };
}

/**
 * The arguments of a tool call as the input of a `tool_use` block, which must be an object: an object as it is, a
 * string parsed, a string inside that parsed once more. Of several objects in a row the first counts, as in a stream. None,
 * white space and null are `{}`; whatever else is none is wrapped.
 */
export function parseToolInput(value: unknown): JsonObject {
  const text = typeof value === "string" ? value : value === undefined ? "" : formatJson(value);
  const once = readJson(text);
  const input = typeof once === "string" ? readJson(once) : once;
  if (isJsonObject(input)) return input;
  return input === null ? {} : wrapArguments(text);
}

/** Undefined for what is no JSON; null for what says nothing. */
function readJson(text: string): unknown {
  if (/^\s*(?:null\s*)?$/.test(text)) return null;
  const end = new JsonObjectScanner().scan(text);
  return tryParseJsonText(text) ?? tryParseJsonText(text.slice(0, end)) ?? undefined;
}
