import { parseJsonBody } from "../../json/parse-body.ts";
import type { ChatFunction, ChatResponseFormat } from "../chat-request.ts";
import type { JsonObject } from "../json-object.ts";
import { invalidField, missingField } from "./field-error.ts";
import { parseThinking, type Thinking } from "./parse-effort.ts";
import { parseMessages } from "./parse-messages.ts";
import { parseOutputFormat } from "./parse-output-format.ts";
import { parseToolChoice, type ToolChoice } from "./parse-tool-choice.ts";
import { parseTools } from "./parse-tools.ts";
import type { ParsedMessage } from "./parts.ts";
import {
  readOptionalArray,
  readOptionalBoolean,
  readOptionalInteger,
  readOptionalNumber,
  readOptionalObject,
  readString,
} from "./read-field.ts";
import { refuseUnsupported } from "./refuse-unsupported.ts";
import { parseSystemPrompt } from "./system-content.ts";

/** A Messages request, checked. Null: the client did not say. Fields that are dropped are not in it. */
export interface ParsedRequest {
  /** Catalog id as the client wrote it. */
  readonly model: string;
  /** Null only where tokens are counted. */
  readonly maxTokens: number | null;
  readonly stream: boolean;
  /** The system prompt as one string; empty when there is none. */
  readonly system: string;
  readonly messages: readonly ParsedMessage[];
  readonly stopSequences: readonly string[];
  readonly temperature: number | null;
  readonly topP: number | null;
  readonly topK: number | null;
  readonly tools: readonly ChatFunction[];
  readonly toolChoice: ToolChoice | null;
  readonly thinking: Thinking;
  readonly responseFormat: ChatResponseFormat | null;
  readonly userId: string | null;
}

/** What is asked: an answer, or how many tokens the prompt has. */
export type RequestPurpose = "answer" | "count_tokens";

/** @throws GatewayError 400 naming the field and what was expected. */
export function parseRequestBody(bytes: Uint8Array, purpose: RequestPurpose): ParsedRequest {
  const body = parseJsonBody(bytes).value;
  const model = readModel(body["model"]);
  const isCount = purpose === "count_tokens";
  const maxTokens = isCount ? null : readMaxTokens(body["max_tokens"]);
  refuseUnsupported(body);
  const outputConfig = readOptionalObject(body["output_config"], "output_config");
  const tools = parseTools(body["tools"], model);
  return {
    model,
    maxTokens,
    stream: !isCount && (readOptionalBoolean(body["stream"], "stream") ?? false),
    system: parseSystemPrompt(body["system"]),
    messages: parseMessages(body["messages"]),
    stopSequences: readStopSequences(body["stop_sequences"]),
    temperature: readOptionalNumber(body["temperature"], "temperature"),
    topP: readOptionalNumber(body["top_p"], "top_p"),
    topK: readOptionalInteger(body["top_k"], "top_k"),
    tools,
    toolChoice: parseToolChoice(body["tool_choice"], tools),
    thinking: parseThinking(body, outputConfig),
    responseFormat: parseOutputFormat(body, outputConfig),
    userId: readUserId(body),
  };
}

function readModel(value: unknown): string {
  if (typeof value !== "string" || value === "") throw missingField("model");
  return value;
}

function readMaxTokens(value: unknown): number {
  const maxTokens = readOptionalInteger(value, "max_tokens");
  if (maxTokens === null) throw missingField("max_tokens");
  // 0 warms Anthropic's cache; upstreams have nothing like it.
  if (maxTokens < 1) throw invalidField("max_tokens", "Input should be greater than or equal to 1");
  return maxTokens;
}

function readStopSequences(value: unknown): string[] {
  const list = readOptionalArray(value, "stop_sequences") ?? [];
  return list.map((entry, index) => readString(entry, `stop_sequences.${index}`));
}

/** The rest of `metadata` has no counterpart: OpenAI's field of that name means something else. */
function readUserId(body: JsonObject): string | null {
  const userId = readOptionalObject(body["metadata"], "metadata")?.["user_id"];
  return typeof userId === "string" && userId !== "" ? userId : null;
}
