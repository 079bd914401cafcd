import type { JsonObject } from "../../../../shared/text/json-object.ts";
import type { ChatFunction } from "../../conversation/chat-request.ts";
import { quote, unquoted, unsupportedField } from "../../json/field-error.ts";
import {
  readName,
  readObject,
  readOptionalArray,
  readOptionalBoolean,
  readOptionalObject,
  readOptionalString,
} from "../../json/read-field.ts";
import type { ToolReference } from "../tool-table.ts";
import { describeCustomTool, NO_PARAMETERS, TEXT_INPUT } from "./custom-tool.ts";

/** A tool that the client runs, as a function. */
export interface ParsedTool {
  readonly tool: ToolReference;
  readonly definition: Omit<ChatFunction, "name">;
  readonly path: string;
}

/** OpenAI's clients offer it with every request, and an answer is possible without a search. */
const WEB_SEARCH = /^web_search(?:_|$)/;
/** Name of the function for the client's own search among its tools. */
const TOOL_SEARCH = "tool_search";

export interface ToolsContext {
  /** Catalog id as the client wrote it, for messages. */
  readonly model: string;
}

/**
 * Converts tools to functions. Declares tools of any kind that the client runs, omits a hosted web search, and rejects
 * other tools that only OpenAI's servers can run, because a model that is not offered a tool answers as if it did not
 * exist.
 * @throws GatewayError 400
 */
export function parseTools(value: unknown, path: string, context: ToolsContext): ParsedTool[] {
  const list = readOptionalArray(value, path) ?? [];
  return list.flatMap((entry, index) => {
    const place = `${path}[${index}]`;
    return parseTool(readObject(entry, place), place, context);
  });
}

function parseTool(tool: JsonObject, path: string, context: ToolsContext): ParsedTool[] {
  const type = readName(tool["type"], `${path}.type`);
  if (WEB_SEARCH.test(type)) return [];
  switch (type) {
    case "function":
    case "custom":
      return [parseNamed(tool, type, null, path)];
    case "namespace":
      return parseNamespace(tool, path, context);
    case "tool_search":
      return parseToolSearch(tool, path);
    default:
      throw unsupportedField(
        path,
        `tool type ${quote(type)} is not supported by model ${unquoted(context.model)}`,
      );
  }
}

function parseNamed(
  tool: JsonObject,
  kind: "function" | "custom",
  namespace: string | null,
  path: string,
): ParsedTool {
  const name = readName(tool["name"], `${path}.name`);
  const description = readOptionalString(tool["description"], `${path}.description`) ?? undefined;
  const reference: ToolReference = { kind, namespace, name };
  if (kind === "custom") {
    const format = readOptionalObject(tool["format"], `${path}.format`);
    const definition = { description: describeCustomTool(description, format), parameters: TEXT_INPUT };
    return { tool: reference, definition, path };
  }
  const isStrict = readOptionalBoolean(tool["strict"], `${path}.strict`) ?? false;
  const parameters = readOptionalObject(tool["parameters"], `${path}.parameters`) ?? NO_PARAMETERS;
  // OpenAI's default of strict rewrites the schema. The gateway keeps it, so only an explicit value counts.
  return {
    tool: reference,
    definition: { description, parameters, strict: isStrict ? true : undefined },
    path,
  };
}

/** Puts the namespace's description before that of its first tool, because there is no other place for it. */
function parseNamespace(namespace: JsonObject, path: string, context: ToolsContext): ParsedTool[] {
  const name = readName(namespace["name"], `${path}.name`);
  const about = readOptionalString(namespace["description"], `${path}.description`) ?? "";
  const list = readOptionalArray(namespace["tools"], `${path}.tools`) ?? [];
  return list.map((entry, index) => {
    const place = `${path}.tools[${index}]`;
    const tool = readObject(entry, place);
    const type = readName(tool["type"], `${place}.type`);
    if (type !== "function" && type !== "custom") {
      const model = unquoted(context.model);
      throw unsupportedField(place, `tool type ${quote(type)} is not supported by model ${model}`);
    }
    const parsed = parseNamed(tool, type, name, place);
    if (index > 0 || about === "") return parsed;
    const { definition } = parsed;
    const description = [about, definition.description ?? ""].filter((text) => text !== "").join("\n\n");
    return { ...parsed, definition: { ...definition, description } };
  });
}

/** A search by the server finds deferred tools; here all tools are declared, so it is not needed. */
function parseToolSearch(tool: JsonObject, path: string): ParsedTool[] {
  if (tool["execution"] !== "client") return [];
  const description = readOptionalString(tool["description"], `${path}.description`) ?? undefined;
  const parameters = readOptionalObject(tool["parameters"], `${path}.parameters`) ?? NO_PARAMETERS;
  const reference: ToolReference = { kind: "tool_search", namespace: null, name: TOOL_SEARCH };
  return [{ tool: reference, definition: { description, parameters }, path }];
}
