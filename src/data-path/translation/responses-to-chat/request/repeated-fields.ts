import { isJsonObject, type JsonObject } from "../../../../shared/text/json-object.ts";
import {
  readOptionalArray,
  readOptionalBoolean,
  readOptionalInteger,
  readOptionalNumber,
  readOptionalObject,
  readOptionalString,
} from "../../json/read-field.ts";
import type { RequestedReasoning } from "./parse-reasoning.ts";

/**
 * Collects the request fields that a response repeats, and constant fields: clients' types require all of them. Uses
 * null where OpenAI's default is null.
 * @throws GatewayError 400 for a field of the wrong type.
 */
export function readRepeatedFields(body: JsonObject, reasoning: RequestedReasoning): JsonObject {
  return {
    previous_response_id: null,
    instructions: body["instructions"] ?? null,
    tools: (readOptionalArray(body["tools"], "tools") ?? []).map(completeTool),
    tool_choice: body["tool_choice"] ?? "auto",
    parallel_tool_calls: readOptionalBoolean(body["parallel_tool_calls"], "parallel_tool_calls") ?? true,
    text: completeText(readOptionalObject(body["text"], "text")),
    reasoning: reasoning.given,
    temperature: readOptionalNumber(body["temperature"], "temperature") ?? 1,
    top_p: readOptionalNumber(body["top_p"], "top_p") ?? 1,
    presence_penalty: 0,
    frequency_penalty: 0,
    top_logprobs: readOptionalInteger(body["top_logprobs"], "top_logprobs") ?? 0,
    max_output_tokens: body["max_output_tokens"] ?? null,
    max_tool_calls: readOptionalInteger(body["max_tool_calls"], "max_tool_calls"),
    truncation: "disabled",
    store: false,
    background: false,
    metadata: readOptionalObject(body["metadata"], "metadata") ?? {},
    user: readOptionalString(body["user"], "user"),
    safety_identifier: readOptionalString(body["safety_identifier"], "safety_identifier"),
    prompt_cache_key: readOptionalString(body["prompt_cache_key"], "prompt_cache_key"),
  };
}

/** Adds fields of a function that are optional in a request and required in a response. */
function completeTool(tool: unknown): unknown {
  if (!isJsonObject(tool) || tool["type"] !== "function") return tool;
  return { description: null, parameters: null, strict: null, ...tool };
}

function completeText(text: JsonObject | null): JsonObject {
  const format = text?.["format"];
  if (!isJsonObject(format)) return { ...text, format: { type: "text" } };
  if (format["type"] !== "json_schema") return { ...text, format };
  return { ...text, format: { description: null, strict: false, ...format } };
}
