/**
 * Custom (freeform) tools take one text. Chat Completions has functions only, so each becomes a function of one string,
 * in both directions: the call's text is unwrapped again in the answer.
 */
import type { JsonObject } from "../../../../shared/text/json-object.ts";

/** The parameters of a function that was declared without any. */
export const NO_PARAMETERS: JsonObject = { type: "object", properties: {} };

/** The parameters of a function that stands for a custom tool. */
export const TEXT_INPUT: JsonObject = {
  type: "object",
  properties: { input: { type: "string", description: "The whole input of the tool, as plain text." } },
  required: ["input"],
  additionalProperties: false,
};

/** The arguments of a call with this text. */
export function wrapInput(input: string): string {
  return JSON.stringify({ input });
}

/** Tells the model the grammar that OpenAI would hold it to: nothing else tells it here. */
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
