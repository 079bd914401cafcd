import type { JsonObject } from "../../../../shared/text/json-object.ts";
import { invalidField, missingField } from "../../json/field-error.ts";
import { parseThinking } from "./parse-effort.ts";
import { parseMessages } from "./parse-messages.ts";
import { parseOutputFormat } from "./parse-output-format.ts";
import { parseToolChoice } from "./parse-tool-choice.ts";
import { parseTools } from "./parse-tools.ts";
import type { RequestBody } from "../../client-protocol.ts";
import type { ParsedRequest } from "../../conversation/parsed-request.ts";
import type { ThinkingDisplay } from "../answer-settings.ts";
import {
  readOptionalArray,
  readOptionalBoolean,
  readOptionalInteger,
  readOptionalNumber,
  readOptionalObject,
  readString,
} from "../../json/read-field.ts";
import { refuseUnsupported } from "./refuse-unsupported.ts";
import { parseSystemPrompt } from "./system-content.ts";

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
