import { isJsonObject, type JsonObject } from "../../../../shared/text/json-object.ts";
import type { ToolChoice } from "../../conversation/parsed-request.ts";
import { invalidField, missingField, quote, unquoted, unsupportedField } from "../../json/field-error.ts";
import { readName, readOptionalArray, readOptionalString } from "../../json/read-field.ts";
import type { ToolsContext } from "./parse-tools.ts";
import type { DeclaredTools } from "./declared-tools.ts";

const PATH = "tool_choice";

/** Tools that the model may or must call. */
export interface ParsedToolChoice {
  readonly mode: ToolChoice["mode"];
  /** Flat names of the only tools to declare, or null for all. */
  readonly allowed: ReadonlySet<string> | null;
}

const NO_CHOICE: ParsedToolChoice = { mode: null, allowed: null };

/** @throws GatewayError 400 */
export function parseToolChoice(
  value: unknown,
  tools: DeclaredTools,
  context: ToolsContext,
): ParsedToolChoice {
  if (value === undefined || value === null) return NO_CHOICE;
  if (typeof value === "string") return { mode: parseMode(value, PATH, tools), allowed: null };
  if (!isJsonObject(value)) throw invalidField(PATH, "Input should be a string or an object");
  const type = readName(value["type"], `${PATH}.type`);
  switch (type) {
    case "function":
    case "custom":
      return { mode: { name: findDeclared(value, PATH, tools) }, allowed: null };
    case "allowed_tools":
      return parseAllowed(value, tools);
    default:
      throw unsupportedField(
        PATH,
        `a choice of the type ${quote(type)} is not supported by model ${unquoted(context.model)}`,
      );
  }
}

/** Without tools, only the demand for a call matters, and is an error. */
function parseMode(word: string, path: string, tools: DeclaredTools): ToolChoice["mode"] {
  if (word !== "auto" && word !== "none" && word !== "required") {
    throw invalidField(path, "Input should be 'auto', 'none', 'required' or an object");
  }
  if (tools.functions.length > 0) return word;
  if (word === "required") throw invalidField(path, "'required' needs tools that this model can call");
  return null;
}

/** Restricts the declared tools: the only form of `allowed_tools` that every upstream enforces. */
function parseAllowed(choice: JsonObject, tools: DeclaredTools): ParsedToolChoice {
  const mode = readOptionalString(choice["mode"], `${PATH}.mode`) ?? "auto";
  const list = readOptionalArray(choice["tools"], `${PATH}.tools`);
  if (list === null) throw missingField(`${PATH}.tools`);
  const allowed = new Set<string>();
  for (const [index, entry] of list.entries()) {
    const path = `${PATH}.tools[${index}]`;
    if (!isJsonObject(entry)) throw invalidField(path, "Input should be an object");
    // A hosted tool that was omitted cannot be called anyway.
    if (entry["type"] === "function" || entry["type"] === "custom") {
      allowed.add(findDeclared(entry, path, tools));
    }
  }
  if (mode !== "auto" && mode !== "required") {
    throw invalidField(`${PATH}.mode`, "Input should be 'auto' or 'required'");
  }
  if (mode === "required" && allowed.size === 0) {
    throw invalidField(`${PATH}.tools`, "'required' needs tools that this model can call");
  }
  return { mode, allowed };
}

/** Returns the flat name of the chosen tool. */
function findDeclared(choice: JsonObject, path: string, tools: DeclaredTools): string {
  const name = readName(choice["name"], `${path}.name`);
  const namespace = readOptionalString(choice["namespace"], `${path}.namespace`);
  const flatName = tools.table.flatten(namespace, name);
  if (tools.functions.some((tool) => tool.name === flatName)) return flatName;
  throw invalidField(path, `Tool ${quote(name)} not found in provided tools`);
}
