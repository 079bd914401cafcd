import type { ChatFunction } from "../../conversation/chat-request.ts";
import type { ToolChoice } from "../../conversation/parsed-request.ts";
import { invalidField, missingField, quote } from "../../json/field-error.ts";
import { readName, readOptionalBoolean, readOptionalObject } from "../../json/read-field.ts";

/**
 * Parses the choice of tools. Returns null if it is absent or there are no tools: OpenAI rejects a choice without
 * tools.
 * @throws GatewayError 400
 */
export function parseToolChoice(value: unknown, tools: readonly ChatFunction[]): ToolChoice | null {
  const choice = readOptionalObject(value, "tool_choice");
  if (choice === null) return null;
  const { type, name, disable_parallel_tool_use } = choice;
  const mode = parseMode(type, name);
  const disablesParallel =
    readOptionalBoolean(disable_parallel_tool_use, "tool_choice.disable_parallel_tool_use") ?? false;
  const isDemand = mode === "required" || typeof mode === "object";
  if (tools.length === 0) {
    if (!isDemand) return null;
    // Anthropic's wording.
    throw invalidField("tool_choice", "tool_choice may only be specified while providing tools.");
  }
  if (typeof mode === "object" && !tools.some((tool) => tool.name === mode.name)) {
    throw invalidField("tool_choice", `Tool ${quote(mode.name)} not found in provided tools`);
  }
  return { mode, disablesParallel };
}

function parseMode(type: unknown, name: unknown): NonNullable<ToolChoice["mode"]> {
  switch (type) {
    case "auto":
      return "auto";
    case "any":
      return "required";
    case "none":
      return "none";
    case "tool":
      return { name: readName(name, "tool_choice.name") };
    case undefined:
      throw missingField("tool_choice.type");
    default:
      throw invalidField("tool_choice.type", "Input should be 'auto', 'any', 'tool' or 'none'");
  }
}
