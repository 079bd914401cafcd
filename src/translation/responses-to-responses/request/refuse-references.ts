import { isJsonObject } from "../../../json-object.ts";
import { unsupportedField } from "../../json/field-error.ts";

/**
 * An item by its id is one that the upstream stored, whoever's it was.
 * @throws GatewayError 400 saying what to send instead.
 */
export function refuseReferences(input: unknown): void {
  if (!Array.isArray(input)) return;
  const index = input.findIndex((item) => isJsonObject(item) && item["type"] === "item_reference");
  if (index === -1) return;
  throw unsupportedField(
    `input[${index}]`,
    "this gateway stores no responses; send the item whole (in the Vercel AI SDK: `providerOptions.openai.store = false`)",
  );
}
