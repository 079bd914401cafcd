import { isJsonObject, type JsonObject } from "../../../shared/text/json-object.ts";
import { readString } from "./read-message.ts";

/** The one answer that was asked for; null when it is not among the choices. Others are not ours to show. */
export function findChoice(body: JsonObject): JsonObject | null {
  const { choices } = body;
  if (!Array.isArray(choices)) return null;
  return choices.find((choice) => isJsonObject(choice) && (choice["index"] ?? 0) === 0) ?? null;
}

/** Why the upstream stopped; empty while it has not. */
export function readFinishReason(choice: JsonObject): string {
  return readString(choice["finish_reason"]);
}

/** The text at which it stopped: vLLM's `stop_reason`, SGLang's `matched_stop`; a token id there is of no use. */
export function readMatchedStop(choice: JsonObject): string | null {
  return readString(choice["stop_reason"]) || readString(choice["matched_stop"]) || null;
}

/** What the upstream tells of the probabilities of a text's tokens, each as it is; empty when it tells nothing. */
export function readLogprobs(choice: JsonObject): JsonObject[] {
  const { logprobs } = choice;
  const content = isJsonObject(logprobs) ? logprobs["content"] : null;
  return Array.isArray(content) ? content.filter(isJsonObject) : [];
}
