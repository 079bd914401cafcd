import type { JsonObject } from "../../../../shared/text/json-object.ts";
import type { ChatResponseFormat } from "../../conversation/chat-request.ts";
import { invalidField, missingField } from "../../json/field-error.ts";
import {
  readName,
  readOptionalBoolean,
  readOptionalObject,
  readOptionalString,
  readRequiredObject,
} from "../../json/read-field.ts";

/** Reads structured output from `text.format`. The schema is forwarded unchanged. @throws GatewayError 400 */
export function parseTextFormat(text: JsonObject | null): ChatResponseFormat | null {
  const path = "text.format";
  const format = readOptionalObject(text?.["format"], path);
  if (format === null) return null;
  const { type } = format;
  switch (type) {
    case undefined:
      throw missingField(`${path}.type`);
    case "text":
      return null;
    case "json_object":
      return { type };
    case "json_schema":
      return { type, json_schema: parseSchema(format, path) };
    default:
      throw invalidField(`${path}.type`, "Input should be 'text', 'json_object' or 'json_schema'");
  }
}

function parseSchema(format: JsonObject, path: string) {
  return {
    name: readName(format["name"], `${path}.name`),
    description: readOptionalString(format["description"], `${path}.description`) ?? undefined,
    schema: readRequiredObject(format["schema"], `${path}.schema`),
    strict: readOptionalBoolean(format["strict"], `${path}.strict`) ?? undefined,
  };
}
