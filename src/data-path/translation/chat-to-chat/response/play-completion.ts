import { isJsonObject, toArray } from "../../../../shared/text/json-object.ts";
import { formatEvent } from "../../sse/encoder.ts";

type JsonObject = Readonly<Record<string, unknown>>;

/** Fields that every chunk repeats. */
const SHARED_FIELDS = ["id", "created", "model", "system_fingerprint", "service_tier"] as const;

/**
 * Formats a whole completion as the stream that the client requested: for each choice one chunk with its message and
 * one with its finish reason, then the usage if requested, then `[DONE]`. OpenAI's SDKs read a JSON answer to a
 * streaming request as an empty stream, without an error.
 */
export function playStream(completion: JsonObject, model: string, isUsageWanted: boolean): string {
  const shared: Record<string, unknown> = { object: "chat.completion.chunk" };
  for (const field of SHARED_FIELDS) {
    if (completion[field] !== undefined) shared[field] = completion[field];
  }
  shared["model"] = model;
  const { choices, usage } = completion;
  let text = "";
  for (const choice of toArray(choices)) {
    if (!isJsonObject(choice)) continue;
    const { message, finish_reason: finishReason, index = 0, ...rest } = choice;
    const delta = isJsonObject(message) ? convertMessage(message) : {};
    text += formatEvent(null, { ...shared, choices: [{ ...rest, index, delta, finish_reason: null }] });
    text += formatEvent(null, {
      ...shared,
      choices: [{ index, delta: {}, finish_reason: finishReason ?? "stop" }],
    });
  }
  if (isUsageWanted && isJsonObject(usage)) text += formatEvent(null, { ...shared, choices: [], usage });
  return `${text}data: [DONE]\n\n`;
}

/** Adds the index that every tool call of a delta requires. */
function convertMessage(message: JsonObject): JsonObject {
  const { tool_calls: toolCalls } = message;
  if (!Array.isArray(toolCalls)) return message;
  return {
    ...message,
    tool_calls: toolCalls.map((call: unknown, index) => (isJsonObject(call) ? { index, ...call } : call)),
  };
}
