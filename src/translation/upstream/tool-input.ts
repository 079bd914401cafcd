import { isJsonObject } from "../../text/json-object.ts";
import { tryParseJsonText } from "../json/parse-json-text.ts";

/**
 * The arguments of a tool call as the input of a `tool_use` block, which must be an object: an object as it is, a
 * string parsed, a string inside that parsed once more. Whatever is none is `{}`: the client's own check of the input
 * then tells the model what is missing.
 */
export function parseToolInput(value: unknown): Readonly<Record<string, unknown>> {
  const once = typeof value === "string" ? tryParseJsonText(value) : value;
  const twice = typeof once === "string" && typeof value === "string" ? tryParseJsonText(once) : once;
  return isJsonObject(twice) ? twice : {};
}
