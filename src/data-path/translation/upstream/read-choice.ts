import { isJsonObject, type JsonObject } from "../../../shared/text/json-object.ts";
import { brokenAnswer } from "./broken-answer.ts";
import { readString } from "./read-message.ts";

/**
 * Lists the choices of a chunk or a whole answer.
 * @throws GatewayError `upstream_error` if `choices` is neither a list nor absent.
 */
export function listChoices({ choices }: JsonObject): readonly unknown[] {
  if (Array.isArray(choices)) return choices;
  if (choices === undefined || choices === null) return [];
  throw brokenAnswer("`choices` is not a list");
}

/**
 * Lists the choices of a whole answer, of which at least one has a message or a completion's text.
 * @throws GatewayError `upstream_error` if none has.
 */
export function requireMessage(completion: JsonObject): readonly unknown[] {
  const choices = listChoices(completion);
  if (choices.some(hasMessage)) return choices;
  throw brokenAnswer("no choice has a message");
}

/** Some servers send a `delta` in whole answers. */
function hasMessage(choice: unknown): boolean {
  if (!isJsonObject(choice)) return false;
  return isJsonObject(choice["message"] ?? choice["delta"]) || typeof choice["text"] === "string";
}

/** Finds the choice with index 0, the only one that was requested; null if absent. */
export function findChoice(body: JsonObject): JsonObject | null {
  const isFirst = (choice: unknown): choice is JsonObject =>
    isJsonObject(choice) && (choice["index"] ?? 0) === 0;
  return listChoices(body).find(isFirst) ?? null;
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
