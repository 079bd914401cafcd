import type { ModelTarget } from "../client-protocol.ts";
import type { ModelProfile } from "../../../shared/contract/model-profile.ts";
import type { AssistantMessage, ChatContentPart, ChatMessage, ChatToolCall } from "./chat-request.ts";
import type { ToolNames } from "./tool-names.ts";
import { unsupportedField } from "../json/field-error.ts";
import {
  type AssistantPart,
  type CallCarrierPart,
  type CallFields,
  type MediaPart,
  PARAGRAPH,
  type TextOrMedia,
  type ToolUsePart,
  type Turn,
  type UserPart,
} from "./parts.ts";

type CarriedFields = Pick<AssistantMessage, keyof CallFields | "reasoning_details" | "thinking_blocks">;

const NOTHING_CARRIED: CarriedFields = {};

/**
 * Converts one turn to chat messages: none, one, or tool messages followed by a user message. @throws GatewayError 400
 */
export function convertTurn(turn: Turn, model: ModelTarget, toolNames: ToolNames): ChatMessage[] {
  if (turn.role === "user") return convertUserTurn(turn.parts, model);
  if (turn.role === "assistant") return convertAssistantTurn(turn.parts, model, toolNames);
  return [{ role: "system", content: turn.text }];
}

/**
 * Puts results first, because they must directly follow their tool calls. Their media come next, then everything else.
 */
function convertUserTurn(parts: readonly UserPart[], model: ModelTarget): ChatMessage[] {
  const messages: ChatMessage[] = [];
  const media: TextOrMedia[] = [];
  const rest: TextOrMedia[] = [];
  for (const part of parts) {
    if (part.kind !== "tool_result") {
      rest.push(part);
      continue;
    }
    messages.push({ role: "tool", tool_call_id: part.toolUseId, content: part.text });
    for (const attached of part.media) media.push(attached);
  }
  const content = [...media, ...rest];
  if (content.length > 0) messages.push({ role: "user", content: convertContent(content, model) });
  return messages;
}

/** Content of text only becomes a plain string: strict chat templates accept nothing else. */
function convertContent(parts: readonly TextOrMedia[], model: ModelTarget): string | ChatContentPart[] {
  if (parts.every((part) => part.kind === "text")) return parts.map(({ text }) => text).join(PARAGRAPH);
  return parts.map((part) => {
    if (part.kind === "text") return { type: "text", text: part.text };
    return convertMedia(part, model);
  });
}

function convertMedia(part: MediaPart, model: ModelTarget): ChatContentPart {
  const { images, files } = model.profile;
  if (part.kind === "image") {
    if (!images) throw unsupportedField(part.path, `image input is not supported by model ${model.id}`);
    return { type: "image_url", image_url: { url: part.url, detail: part.detail } };
  }
  if (!files) throw unsupportedField(part.path, `file input is not supported by model ${model.id}`);
  return { type: "file", file: { filename: part.filename, file_data: part.data } };
}

function convertAssistantTurn(
  parts: readonly AssistantPart[],
  { id: modelId, profile }: ModelTarget,
  toolNames: ToolNames,
): ChatMessage[] {
  const text = joinSentences(parts);
  const thoughts = parts.flatMap((part) => (part.kind === "thinking" ? [part.thinking] : []));
  const reasoning =
    thoughts.length === 0 || profile.reasoningHistory === "drop" ? undefined : thoughts.join(PARAGRAPH);
  const carried = parts
    .filter((part) => part.kind === "call_carrier")
    .filter(({ model }) => model === modelId);
  const fields = new Map(
    carried.flatMap((carrier) => (carrier.fields === null ? [] : [[carrier.callId, carrier.fields]])),
  );
  const calls = parts
    .filter((part) => part.kind === "tool_use")
    .map((part) => convertCall(part, fields.get(part.id), toolNames));
  if (text === "" && calls.length === 0 && reasoning === undefined) return [];
  return [
    {
      role: "assistant",
      content: text === "" ? null : text,
      ...formatReasoning(reasoning, profile),
      tool_calls: calls.length === 0 ? undefined : calls,
      ...(carried.length === 0 ? NOTHING_CARRIED : convertCarried(carried, calls, profile)),
    },
  ];
}

function formatReasoning(
  reasoning: string | undefined,
  { reasoningHistory }: Pick<ModelProfile, "reasoningHistory">,
): Pick<AssistantMessage, "reasoning" | "reasoning_content"> {
  if (reasoningHistory === "reasoning") return { reasoning };
  if (reasoningHistory === "reasoning_content") return { reasoning_content: reasoning };
  if (reasoningHistory === "reasoning_content_always") return { reasoning_content: reasoning ?? "" };
  return {};
}

function convertCall(
  { id, name, arguments: args }: ToolUsePart,
  fields: CallFields | undefined,
  toolNames: ToolNames,
): ChatToolCall {
  return { id, type: "function", function: { name: toolNames.toUpstream(name), arguments: args }, ...fields };
}

/** Collects carried data of the message and of calls that are present. */
function convertCarried(
  carried: readonly CallCarrierPart[],
  calls: readonly ChatToolCall[],
  { reasoningHistory }: Pick<ModelProfile, "reasoningHistory">,
): CarriedFields {
  const ids = new Set<string | null>(reasoningHistory === "drop" ? [] : calls.map(({ id }) => id));
  const ofCalls = carried.filter(({ callId }) => ids.has(callId));
  const details = ofCalls.flatMap((carrier) => carrier.details);
  const blocks = ofCalls.flatMap((carrier) => carrier.blocks);
  return {
    reasoning_details: details.length === 0 ? undefined : details,
    thinking_blocks: blocks.length === 0 ? undefined : blocks,
    ...carried.findLast(({ callId }) => callId === null)?.fields,
  };
}

/** Joins consecutive text blocks, which are one text cut by citations; other blocks between them end a paragraph. */
function joinSentences(parts: readonly AssistantPart[]): string {
  let text = "";
  let isAfterGap = false;
  for (const part of parts) {
    if (part.kind === "text") {
      text += text !== "" && isAfterGap ? PARAGRAPH + part.text : part.text;
      isAfterGap = false;
    } else {
      isAfterGap = true;
    }
  }
  return text;
}
