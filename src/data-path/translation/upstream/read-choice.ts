import { isJsonObject, type JsonObject } from "../../../shared/text/json-object.ts";
import { readString } from "./read-message.ts";

/** Finds the choice with index 0, the only one that was requested; null if absent. */
export function findChoice(body: JsonObject): JsonObject | null {
  const { choices } = body;
  if (!Array.isArray(choices)) return null;
  return choices.find((choice) => isJsonObject(choice) && (choice["index"] ?? 0) === 0) ?? null;
}

/** Reads why the upstream stopped; empty if it has not. */
export function readFinishReason(choice: JsonObject): string {
  return readString(choice["finish_reason"]);
}

/** Reads the stop sequence: vLLM's `stop_reason`, SGLang's `matched_stop`. Ignores token ids. */
export function readMatchedStop(choice: JsonObject): string | null {
  return readString(choice["stop_reason"]) || readString(choice["matched_stop"]) || null;
}

/** Reads the log probabilities of a text's tokens, unchanged; empty if absent. */
export function readLogprobs(choice: JsonObject): JsonObject[] {
  const { logprobs } = choice;
  const content = isJsonObject(logprobs) ? logprobs["content"] : null;
  return Array.isArray(content) ? content.filter(isJsonObject) : [];
}
