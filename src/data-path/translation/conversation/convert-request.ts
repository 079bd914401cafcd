import { createHash } from "node:crypto";
import type { ModelTarget } from "../client-protocol.ts";
import type { ChatMessage, ChatRequestBody, ChatToolChoice } from "./chat-request.ts";
import { ToolNames } from "./tool-names.ts";
import { convertTurn } from "./convert-turn.ts";
import { invalidField, unsupportedField } from "../json/field-error.ts";
import { chatLimitNames, limitOutput } from "../fields/output-limit.ts";
import { createUsageRequest } from "../fields/usage-request.ts";
import { orderTurns } from "./order-turns.ts";
import type { UpstreamTerms } from "../read-request.ts";
import type { ParsedRequest, ToolChoice } from "./parsed-request.ts";
import { REASONING_EFFORTS, type ReasoningEffort } from "../../../shared/contract/model-profile.ts";

/** OpenAI's limit; Claude Code sends more than twice as much. */
const MAX_USER_ID_CHARACTERS = 64;

/** Shortens a user id that exceeds the limit to its SHA-256 in hex, which is exactly as long as the limit. */
function formatUserId(userId: string): string {
  return userId.length <= MAX_USER_ID_CHARACTERS ? userId : createHash("sha256").update(userId).digest("hex");
}

/**
 * Creates the chat completion request for a model's upstream.
 * @throws GatewayError 400 if the model's profile cannot represent the request.
 */
export function convertRequest(request: ParsedRequest, terms: UpstreamTerms): ChatRequestBody {
  const { model } = terms;
  const { profile } = model;
  const toolNames = createToolNames(request, model);
  const { system, turns } = orderTurns(request.system, request.messages, profile.systemMid);
  const messages = turns.flatMap((turn) => convertTurn(turn, model, toolNames));
  if (messages.length === 0) {
    throw invalidField(request.messagesField, "at least one message with content is required");
  }
  if (system !== "") messages.unshift({ role: "system", content: system });
  return {
    model: model.upstreamModel,
    messages,
    ...convertLimit(request, terms),
    ...convertStream(request, model),
    ...convertSampling(request, model),
    ...convertTools(request, toolNames),
    reasoning_effort:
      request.reasoningEffort === null
        ? undefined
        : clampEffort(request.reasoningEffort, profile.reasoningEfforts),
    response_format: request.responseFormat ?? undefined,
    service_tier: request.serviceTier ?? undefined,
    logprobs: request.topLogprobs === null ? undefined : true,
    top_logprobs: request.topLogprobs === null || request.topLogprobs === 0 ? undefined : request.topLogprobs,
    ...convertUser(request, model),
    prompt_cache_key: profile.promptCacheKey ? (request.promptCacheKey ?? undefined) : undefined,
    ...convertPrefill(messages, request, model),
  };
}

/** Creates the mapping of the request's tool names for this model's upstream. */
export function createToolNames(request: ParsedRequest, model: ModelTarget): ToolNames {
  return new ToolNames(
    request.tools.map(({ name }) => name),
    model.profile.toolNameMax,
  );
}

function convertLimit({ maxTokens }: ParsedRequest, terms: UpstreamTerms): Partial<ChatRequestBody> {
  const { names, tokens } = limitOutput(chatLimitNames(terms.model), maxTokens, terms);
  return tokens === null ? {} : Object.fromEntries(names.map((name) => [name, tokens]));
}

/** Requests usage wherever the server supports it, because requests are billed by it. */
function convertStream(request: ParsedRequest, { profile }: ModelTarget): Partial<ChatRequestBody> {
  if (!request.stream) return {};
  const usage = createUsageRequest(profile);
  if (usage === null) return { stream: true };
  const continuous = usage.isContinuous ? ({ continuous_usage_stats: true } as const) : {};
  return { stream: true, stream_options: { include_usage: true, ...continuous } };
}

function convertSampling(request: ParsedRequest, { profile }: ModelTarget): Partial<ChatRequestBody> {
  const { stopSequences, temperature, topP, topK } = request;
  if (profile.maxStop !== null && stopSequences.length > profile.maxStop) {
    throw unsupportedField(
      "stop_sequences",
      `at most ${profile.maxStop} stop sequences are supported by this model`,
    );
  }
  return {
    stop: stopSequences.length === 0 ? undefined : stopSequences,
    temperature: temperature ?? undefined,
    top_p: topP ?? undefined,
    top_k: profile.topK === "forward" ? (topK ?? undefined) : undefined,
  };
}

function convertTools({ tools, toolChoice }: ParsedRequest, toolNames: ToolNames): Partial<ChatRequestBody> {
  if (tools.length === 0) return {};
  return {
    tools: tools.map((tool) => ({
      type: "function",
      function: { ...tool, name: toolNames.toUpstream(tool.name) },
    })),
    tool_choice: convertToolChoice(toolChoice?.mode ?? null, toolNames),
    parallel_tool_calls: toolChoice?.disablesParallel === true ? false : undefined,
  };
}

function convertToolChoice(mode: ToolChoice["mode"], toolNames: ToolNames): ChatToolChoice | undefined {
  if (mode === null) return undefined;
  if (typeof mode === "string") return mode;
  return { type: "function", function: { name: toolNames.toUpstream(mode.name) } };
}

function convertUser({ userId }: ParsedRequest, { profile }: ModelTarget): Partial<ChatRequestBody> {
  if (userId === null || profile.userField === null) return {};
  return { [profile.userField]: formatUserId(userId) };
}

/** A last assistant message is the beginning of the answer; engines differ in whether they continue it. */
function convertPrefill(
  messages: readonly ChatMessage[],
  { messagesField }: ParsedRequest,
  { profile }: ModelTarget,
): Partial<ChatRequestBody> {
  const last = messages.at(-1);
  if (last?.role !== "assistant" || profile.prefill === "plain") return {};
  if (profile.prefill === "refuse") {
    throw unsupportedField(
      messagesField,
      "this model can't continue an assistant message; the last message must be the user's",
    );
  }
  return last.tool_calls === undefined ? { continue_final_message: true, add_generation_prompt: false } : {};
}

/**
 * Returns the effort if the model supports it, otherwise the nearest lower level, otherwise the lowest. An unsupported
 * level is never an error, because clients send one with every request.
 * @param supported In ascending order; empty: the model has no levels.
 */
function clampEffort(
  effort: ReasoningEffort,
  supported: readonly ReasoningEffort[],
): ReasoningEffort | undefined {
  const rank = REASONING_EFFORTS.indexOf(effort);
  const atMost = supported.filter((level) => REASONING_EFFORTS.indexOf(level) <= rank);
  return atMost.at(-1) ?? supported[0];
}
