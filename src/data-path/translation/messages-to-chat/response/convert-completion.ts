import { GatewayError } from "../../../../shared/contract/errors.ts";
import type { ContentBlock, Message, TextBlock } from "../message.ts";
import { convertUsage, createUsage } from "../usage.ts";
import type { JsonObject } from "../../../../shared/text/json-object.ts";
import type { AnswerSettings } from "../answer-settings.ts";
import { mapStopReason } from "./map-stop-reason.ts";
import { requireEnd } from "../../upstream/end-reasons.ts";
import { findChoice, readFinishReason, readMatchedStop } from "../../upstream/read-choice.ts";
import { type AnswerPiece, AnswerReader } from "../../upstream/answer-reader.ts";
import { findUsage } from "../../upstream/usage.ts";
import { readToolCalls } from "./read-tool-calls.ts";
import { createCallReasoning } from "./create-call-reasoning.ts";
import { ThinkingSignature } from "./thinking-signature.ts";

/**
 * Converts a whole chat completion to a message.
 * @throws GatewayError `upstream_error` if it contains no answer.
 */
export function convertCompletion(completion: JsonObject, settings: AnswerSettings): Message {
  const choice = findChoice(completion);
  const message = choice?.["message"];
  const piece = choice === null ? null : readWhole(message, settings);
  if (choice === null || piece === null) {
    throw new GatewayError("upstream_error", { cause: new Error("a chat completion without a choice") });
  }
  const callReasoning = createCallReasoning(settings);
  const { reasoning, text, refusal, fields } = piece;
  callReasoning.readMessage(fields);
  const toolUses = readToolCalls(fields, settings, callReasoning);
  const ending = {
    reason: requireEnd(readFinishReason(choice), true),
    matchedStop: readMatchedStop(choice),
    hasToolUse: toolUses.length > 0,
    refusal,
  };
  return {
    id: settings.ids.messageId(),
    type: "message",
    role: "assistant",
    model: settings.model,
    content: [
      ...convertReasoning(reasoning, settings),
      ...convertSignature(callReasoning.endMessage()),
      ...convertText(text, toolUses.length > 0),
      ...createTextBlocks(refusal),
      ...toolUses,
    ],
    ...mapStopReason(ending, settings.stopSequences),
    container: null,
    diagnostics: null,
    usage: convertUsage(findUsage(completion)) ?? createUsage(),
  };
}

function readWhole(message: unknown, { thinkTags }: AnswerSettings): AnswerPiece | null {
  const reader = new AnswerReader(thinkTags);
  const piece = reader.read({ message });
  if (piece === null) return null;
  const rest = reader.end();
  const reasoning = { ...piece.reasoning, text: piece.reasoning.text + rest.reasoning };
  return { ...piece, reasoning, text: piece.text + rest.text };
}

function convertReasoning(reasoning: AnswerPiece["reasoning"], settings: AnswerSettings): ContentBlock[] {
  const { thinking, carriesReasoning } = settings;
  if (thinking === "hidden" || reasoning.text === "") return [];
  const isOmitted = thinking === "omitted";
  const signature = new ThinkingSignature({ carries: isOmitted && carriesReasoning });
  signature.add(reasoning.text);
  if (reasoning.signature !== null) signature.set(reasoning.signature);
  return [{ type: "thinking", thinking: isOmitted ? "" : reasoning.text, signature: signature.end() }];
}

/** Must precede the text, because clients take the last block for the answer. */
function convertSignature(data: string | null): ContentBlock[] {
  return data === null ? [] : [{ type: "redacted_thinking", data }];
}

/** Line ends between reasoning and a tool call come from the chat template, not from the model. */
function convertText(text: string, hasToolUse: boolean): TextBlock[] {
  return hasToolUse && text.trim() === "" ? [] : createTextBlocks(text);
}

function createTextBlocks(text: string): TextBlock[] {
  return text === "" ? [] : [{ type: "text", text }];
}
