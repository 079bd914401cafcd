import { isJsonObject } from "../../../../shared/text/json-object.ts";
import { invalidField, missingField } from "../../json/field-error.ts";
import { readObject, readTyped, type TypedObject } from "../../json/read-field.ts";

/** One item of the input. */
export type Item = TypedObject;

/** Last item, which requests a summary of the items before it instead of an answer. */
export const TRIGGER = "compaction_trigger";

/** Reads the items of `input`; a string is one user message. @throws GatewayError 400 */
export function readItems(value: unknown, path: string): Item[] {
  if (value === undefined || value === null) throw missingField(path);
  if (typeof value === "string") {
    return [{ type: "message", fields: { role: "user", content: value }, path }];
  }
  if (!Array.isArray(value)) throw invalidField(path, "Input should be a string or a list of items");
  return value.map((entry: unknown, index) => readItem(entry, `${path}[${index}]`));
}

/** Two types are optional: messages are recognized by their role, references by having only an id. */
function readItem(value: unknown, path: string): Item {
  const fields = readObject(value, path);
  const { type } = fields;
  if (type === undefined || type === null) {
    const isReference = !("role" in fields) && typeof fields["id"] === "string";
    if (!isReference && !("role" in fields)) throw missingField(`${path}.type`);
    return { type: isReference ? "item_reference" : "message", fields, path };
  }
  return readTyped(value, path);
}

/** Lists the names of tools for a text; namespaces are replaced by their tools. */
export function listToolNames(tools: readonly unknown[]): string[] {
  return tools.filter(isJsonObject).flatMap((tool) => {
    if (tool["type"] === "namespace" && Array.isArray(tool["tools"])) return listToolNames(tool["tools"]);
    return typeof tool["name"] === "string" ? [tool["name"]] : [];
  });
}
