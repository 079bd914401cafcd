import type { JsonObject } from "../../../../shared/text/json-object.ts";
import { invalidField, missingField, unsupportedField, quote } from "../../json/field-error.ts";
import { parseThinking } from "./parse-effort.ts";
import { parseMessages } from "./parse-messages.ts";
import { parseTools } from "./parse-tools.ts";
import type { RequestBody } from "../../client-protocol.ts";
import type { ParsedRequest, ToolChoice } from "../../conversation/parsed-request.ts";
import type { ThinkingDisplay } from "../answer-settings.ts";
import {
  readOptionalArray,
  readOptionalBoolean,
  readOptionalInteger,
  readOptionalNumber,
  readOptionalObject,
  readString,
  readRequiredObject,
  readName,
} from "../../json/read-field.ts";
import { parseSystemPrompt } from "./system-content.ts";
import type { ChatResponseFormat, ChatFunction } from "../../conversation/chat-request.ts";

/** Fields that only Anthropic supports and whose loss would change the meaning of the request. */
const REFUSED = [
  { field: "container", reason: "containers are not supported by this model" },
  { field: "mcp_servers", reason: "MCP servers are not supported by this model" },
  { field: "thread", reason: "threads are not supported by this model" },
  { field: "compaction", reason: "a summary on demand is not supported by this model" },
  { field: "inference_geo", reason: "a region cannot be chosen for this model" },
] as const;

/** @throws GatewayError 400 naming the first such field that is neither null nor empty. */
function refuseUnsupported(body: JsonObject): void {
  for (const { field, reason } of REFUSED) {
    const value = body[field];
    const isEmpty =
      value === undefined || value === null || (typeof value === "object" && Object.keys(value).length === 0);
    if (!isEmpty) throw unsupportedField(field, reason);
  }
}

/** A validated Messages request. */
export interface ParsedMessagesRequest extends ParsedRequest {
  readonly thinking: ThinkingDisplay;
}

/** Whether the client requests an answer or the number of prompt tokens. */
export type RequestPurpose = "answer" | "count_tokens";

/** @throws GatewayError 400 naming the field and what was expected. */
export function parseRequestBody(
  { value: body, model }: RequestBody,
  purpose: RequestPurpose,
): ParsedMessagesRequest {
  const isCount = purpose === "count_tokens";
  const maxTokens = isCount ? null : readMaxTokens(body["max_tokens"], 1);
  refuseUnsupported(body);
  const outputConfig = readOptionalObject(body["output_config"], "output_config");
  const tools = parseTools(body["tools"], model);
  const thinking = parseThinking(body, outputConfig);
  return {
    model,
    maxTokens,
    stream: !isCount && (readOptionalBoolean(body["stream"], "stream") ?? false),
    system: parseSystemPrompt(body["system"]),
    messages: parseMessages(body["messages"]),
    messagesField: "messages",
    stopSequences: readStopSequences(body["stop_sequences"]),
    temperature: readOptionalNumber(body["temperature"], "temperature"),
    topP: readOptionalNumber(body["top_p"], "top_p"),
    topK: readOptionalInteger(body["top_k"], "top_k"),
    tools,
    toolChoice: parseToolChoice(body["tool_choice"], tools),
    reasoningEffort: thinking.effort,
    thinking: thinking.display,
    responseFormat: parseOutputFormat(body, outputConfig),
    topLogprobs: null,
    userId: readUserId(body),
    promptCacheKey: null,
    serviceTier: null,
  };
}

/**
 * @param least Minimum. 0 warms Anthropic's cache, which other upstream protocols do not support. @throws GatewayError
 * 400
 */
export function readMaxTokens(value: unknown, least: number): number {
  const maxTokens = readOptionalInteger(value, "max_tokens");
  if (maxTokens === null) throw missingField("max_tokens");
  if (maxTokens >= least) return maxTokens;
  throw invalidField("max_tokens", `Input should be greater than or equal to ${least}`);
}

function readStopSequences(value: unknown): string[] {
  const list = readOptionalArray(value, "stop_sequences") ?? [];
  return list.map((entry, index) => readString(entry, `stop_sequences.${index}`));
}

/** Ignores the rest of `metadata`: OpenAI's field of that name has another meaning. */
function readUserId(body: JsonObject): string | null {
  const userId = readOptionalObject(body["metadata"], "metadata")?.["user_id"];
  return typeof userId === "string" && userId !== "" ? userId : null;
}

/**
 * Reads structured output from `output_config.format` or `output_format` (an old beta). The schema is forwarded
 * unchanged.
 * @throws GatewayError 400
 */
function parseOutputFormat(body: JsonObject, outputConfig: JsonObject | null): ChatResponseFormat | null {
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

/**
 * Parses the choice of tools. Returns null if it is absent or there are no tools: OpenAI rejects a choice without
 * tools.
 * @throws GatewayError 400
 */
function parseToolChoice(value: unknown, tools: readonly ChatFunction[]): ToolChoice | null {
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
