/**
 * Custom (freeform) tools take one text. Chat Completions only has functions, so each becomes a function of one
 * string, and the answer's call is unwrapped again.
 */
import type { JsonObject } from "../../../../shared/text/json-object.ts";

/** Parameters of a function that was declared without any. */
export const NO_PARAMETERS: JsonObject = { type: "object", properties: {} };

/** Parameters of a function that stands for a custom tool. */
export const TEXT_INPUT: JsonObject = {
  type: "object",
  properties: { input: { type: "string", description: "The whole input of the tool, as plain text." } },
  required: ["input"],
  additionalProperties: false,
};

/** Creates the arguments of a call with this text. */
export function wrapInput(input: string): string {
  return JSON.stringify({ input });
}

/** Adds the grammar, which OpenAI would enforce, to the description, because the model gets it nowhere else. */
export function describeCustomTool(
  description: string | undefined,
  format: JsonObject | null,
): string | undefined {
  const definition = format?.["definition"];
  if (format?.["type"] !== "grammar" || typeof definition !== "string") return description;
  const syntax = typeof format["syntax"] === "string" ? `${format["syntax"]} ` : "";
  const rule = `The input must follow this ${syntax}grammar:\n${definition}`;
  return description === undefined || description === "" ? rule : `${description}\n\n${rule}`;
}
