import { isJsonObject, type JsonObject } from "../../../json-object.ts";
import { unsupportedField } from "../../json/field-error.ts";

/**
 * An item by its id is one that the upstream stored, whoever's it was.
 * @throws GatewayError 400 saying what to send instead.
 */
export function refuseReferences(input: unknown): void {
  if (!Array.isArray(input)) return;
  const index = input.findIndex((item) => isJsonObject(item) && isReference(item));
  if (index === -1) return;
  throw unsupportedField(
    `input[${index}]`,
    "this gateway stores no responses; send the item whole (in the Vercel AI SDK: `providerOptions.openai.store = false`)",
  );
}

/** By its type in whatever letters, or without one: what has neither a type nor a role says nothing but an id. */
function isReference({ type, role, id }: JsonObject): boolean {
  if (typeof type === "string") return type.trim().toLowerCase() === "item_reference";
  return typeof role !== "string" && id !== undefined && id !== null;
}
