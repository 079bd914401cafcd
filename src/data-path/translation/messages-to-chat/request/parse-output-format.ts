import type { ChatResponseFormat } from "../../conversation/chat-request.ts";
import type { JsonObject } from "../../../../shared/text/json-object.ts";
import { invalidField } from "../../json/field-error.ts";
import { readOptionalObject, readRequiredObject } from "../../json/read-field.ts";

/**
 * Reads structured output from `output_config.format` or `output_format` (an old beta). The schema is forwarded
 * unchanged.
 * @throws GatewayError 400
 */
export function parseOutputFormat(
  body: JsonObject,
  outputConfig: JsonObject | null,
): ChatResponseFormat | null {
  return (
    convertFormat(outputConfig?.["format"], "output_config.format") ??
    convertFormat(body["output_format"], "output_format")
  );
}

function convertFormat(value: unknown, path: string): ChatResponseFormat | null {
  const format = readOptionalObject(value, path);
  if (format === null) return null;
  const { type, schema } = format;
  if (type !== "json_schema") throw invalidField(`${path}.type`, "Input should be 'json_schema'");
  const json_schema = {
    name: "response",
    schema: readRequiredObject(schema, `${path}.schema`),
    strict: true,
  };
  return { type, json_schema };
}
