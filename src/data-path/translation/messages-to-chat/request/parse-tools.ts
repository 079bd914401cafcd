import type { ChatFunction } from "../../conversation/chat-request.ts";
import type { JsonObject } from "../../../../shared/text/json-object.ts";
import { createClientTool } from "./client-tools.ts";
import { invalidField, quote, unquoted, unsupportedField } from "../../json/field-error.ts";
import {
  readName,
  readObject,
  readOptionalArray,
  readOptionalBoolean,
  readOptionalString,
  readRequiredObject,
} from "../../json/read-field.ts";

/** Server tool that finds deferred tools. Here every tool is declared from the start, so it is not needed. */
const TOOL_SEARCH_PREFIX = "tool_search_tool_";

/**
 * Converts tools to functions. Declares tools that the client runs and rejects those that only Anthropic's servers can
 * run, because a model that is not offered a tool answers as if it did not exist.
 * @param model Catalog id, for messages.
 * @throws GatewayError 400
 */
export function parseTools(value: unknown, model: string): ChatFunction[] {
  const list = readOptionalArray(value, "tools") ?? [];
  const functions: ChatFunction[] = [];
  const names = new Set<string>();
  for (const [index, entry] of list.entries()) {
    const tool = parseTool(readObject(entry, `tools.${index}`), `tools.${index}`, model);
    if (tool === null) continue;
    if (names.has(tool.name)) throw invalidField("tools", "Tool names must be unique.");
    names.add(tool.name);
    functions.push(tool);
  }
  return functions;
}

function parseTool(tool: JsonObject, path: string, model: string): ChatFunction | null {
  const type = readOptionalString(tool["type"], `${path}.type`) ?? "custom";
  if (type === "custom") return parseCustomTool(tool, `${path}.custom`);
  if (type.startsWith(TOOL_SEARCH_PREFIX)) return null;
  const clientTool = createClientTool(type);
  if (clientTool === null) {
    throw unsupportedField(path, `tool type ${quote(type)} is not supported by model ${unquoted(model)}`);
  }
  const name = readOptionalString(tool["name"], `${path}.name`) ?? clientTool.name;
  return { ...clientTool, name };
}

function parseCustomTool(tool: JsonObject, path: string): ChatFunction {
  const name = readName(tool["name"], `${path}.name`);
  const parameters = readRequiredObject(tool["input_schema"], `${path}.input_schema`);
  const description = readOptionalString(tool["description"], `${path}.description`) ?? undefined;
  const isStrict = readOptionalBoolean(tool["strict"], `${path}.strict`) ?? false;
  return { name, description, parameters, strict: isStrict ? true : undefined };
}
