import type { JsonObject } from "../../../../shared/text/json-object.ts";
import type { RequestBody } from "../../client-protocol.ts";
import { invalidField, missingField } from "../../json/field-error.ts";
import {
  readOptionalArray,
  readOptionalBoolean,
  readOptionalInteger,
  readOptionalNumber,
  readOptionalObject,
  readOptionalString,
  readName,
  readRequiredObject,
} from "../../json/read-field.ts";
import { DeclaredTools } from "./declared-tools.ts";
import { type Item, readItems, TRIGGER } from "./items.ts";
import { parseInput } from "./parse-input.ts";
import { parseReasoning } from "./parse-reasoning.ts";
import { parseToolChoice } from "./parse-tool-choice.ts";
import { parseTools, type ToolsContext } from "./parse-tools.ts";
import type { ParsedResponsesRequest, RequestPurpose } from "./parsed-request.ts";
import { refuseState } from "./refuse-state.ts";
import { readRepeatedFields } from "./repeated-fields.ts";
import type { ChatResponseFormat } from "../../conversation/chat-request.ts";
import { SUMMARY_PROMPT } from "../../conversation/compaction.ts";
import type { ParsedMessage } from "../../conversation/parts.ts";
import type { Compaction } from "../answer-settings.ts";

const SUMMARY_REQUEST: ParsedMessage = { role: "user", parts: [{ kind: "text", text: SUMMARY_PROMPT }] };

/** Settings of a summary, which consists of text only. */
const SUMMARY_SETTINGS = {
  // Tools stay declared: the upstream has read them before, and its prompt cache begins with them.
  toolChoice: { mode: "none", disablesParallel: false },
  responseFormat: null,
  topLogprobs: null,
  reasoning: "hidden",
  wantsCarrier: false,
} as const;

/** Removes the item that requests the summary. */
function withoutTrigger(items: readonly Item[]): readonly Item[] {
  return items.at(-1)?.type === TRIGGER ? items.slice(0, -1) : items;
}

/** Returns the requested summary; null if the request is for an answer. @param items As the client sent them. */
function readCompaction(items: readonly Item[], purpose: RequestPurpose): Compaction | null {
  if (purpose === "compact") return { userMessages: items.flatMap(listUserMessage) };
  return items.at(-1)?.type === TRIGGER ? { userMessages: null } : null;
}

/** Appends the request for a summary to the conversation. */
function appendSummaryRequest(request: ParsedResponsesRequest): ParsedResponsesRequest {
  return { ...request, ...SUMMARY_SETTINGS, messages: [...request.messages, SUMMARY_REQUEST] };
}

/** Returns the user's message as the answer of `compact` repeats it. */
function listUserMessage({ type, fields }: Item): JsonObject[] {
  const { role, content } = fields;
  if (type !== "message" || role !== "user") return [];
  const parts = typeof content === "string" ? [{ type: "input_text", text: content }] : content;
  return [{ type: "message", role, status: "completed", content: parts }];
}

/** Items that declare tools. */
const TOOL_ITEMS: ReadonlySet<string> = new Set(["additional_tools", "tool_search_output"]);

/** @throws GatewayError 400 naming the field and what was expected. */
export function parseRequestBody(
  { value: body, model }: RequestBody,
  purpose: RequestPurpose,
): ParsedResponsesRequest {
  refuseState(body);
  const { system, items: given } = readConversation(body);
  const compaction = readCompaction(given, purpose);
  const items = withoutTrigger(given);
  const tools = declareTools(body, items, { model });
  const choice = parseToolChoice(body["tool_choice"], tools, { model });
  const reasoning = parseReasoning(body);
  const repeatedFields = readRepeatedFields(body, reasoning);
  const include = readInclude(body);
  const { allowed } = choice;
  const request: ParsedResponsesRequest = {
    model,
    maxTokens: readMaxOutputTokens(body["max_output_tokens"]),
    stream: purpose === "answer" && (readOptionalBoolean(body["stream"], "stream") ?? false),
    system,
    messages: parseInput(items, tools.table),
    messagesField: "input",
    stopSequences: [],
    temperature: readOptionalNumber(body["temperature"], "temperature"),
    topP: readOptionalNumber(body["top_p"], "top_p"),
    topK: null,
    tools: tools.functions.filter(({ name }) => allowed === null || allowed.has(name)),
    toolChoice: { mode: choice.mode, disablesParallel: repeatedFields["parallel_tool_calls"] === false },
    reasoningEffort: reasoning.effort,
    responseFormat: parseTextFormat(readOptionalObject(body["text"], "text")),
    topLogprobs: readTopLogprobs(body, include),
    userId:
      readOptionalString(body["safety_identifier"], "safety_identifier") ??
      readOptionalString(body["user"], "user"),
    promptCacheKey: readOptionalString(body["prompt_cache_key"], "prompt_cache_key"),
    serviceTier: readOptionalString(body["service_tier"], "service_tier"),
    toolTable: tools.table,
    reasoning: reasoning.display,
    wantsCarrier: include.has("reasoning.encrypted_content"),
    compaction,
    repeatedFields,
  };
  return compaction === null ? request : appendSummaryRequest(request);
}

/** @throws GatewayError 400 */
export function readMaxOutputTokens(value: unknown): number | null {
  const path = "max_output_tokens";
  const maxTokens = readOptionalInteger(value, path);
  if (maxTokens !== null && maxTokens < 1) {
    throw invalidField(path, "Input should be greater than or equal to 1");
  }
  return maxTokens;
}

/** Old clients send a list as `instructions`: items before the input. */
function readConversation(body: JsonObject): { system: string; items: Item[] } {
  const { instructions, input } = body;
  const items = readItems(input, "input");
  if (Array.isArray(instructions)) {
    return { system: "", items: [...readItems(instructions, "instructions"), ...items] };
  }
  return { system: readOptionalString(instructions, "instructions") ?? "", items };
}

/** Declares all tools before the items are parsed, because calls use the declared names. */
function declareTools(body: JsonObject, items: readonly Item[], context: ToolsContext): DeclaredTools {
  const tools = new DeclaredTools();
  for (const { tool, definition, path } of parseTools(body["tools"], "tools", context)) {
    tools.declare(tool, definition, path);
  }
  for (const { type, fields, path } of items) {
    if (!TOOL_ITEMS.has(type)) continue;
    for (const { tool, definition } of parseTools(fields["tools"], `${path}.tools`, context)) {
      tools.declareAgain(tool, definition);
    }
  }
  return tools;
}

function readInclude(body: JsonObject): ReadonlySet<unknown> {
  return new Set(readOptionalArray(body["include"], "include"));
}

/** Returns null if no log probabilities are requested. */
function readTopLogprobs(body: JsonObject, include: ReadonlySet<unknown>): number | null {
  const requested = readOptionalInteger(body["top_logprobs"], "top_logprobs");
  if (requested !== null && requested > 0) return requested;
  return include.has("message.output_text.logprobs") ? 0 : null;
}

/** Reads structured output from `text.format`. The schema is forwarded unchanged. @throws GatewayError 400 */
function parseTextFormat(text: JsonObject | null): ChatResponseFormat | null {
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
