import { isJsonObject, type JsonObject } from "../../../json-object.ts";

/**
 * A whole completion as the one chunk of a stream: the calls of its choices are numbered by their places, as deltas are,
 * so that two without ids, or with the same, stay two.
 */
export function numberCalls(completion: JsonObject): JsonObject {
  const { choices } = completion;
  if (!Array.isArray(choices)) return completion;
  return { ...completion, choices: choices.map(numberChoice) };
}

function numberChoice(choice: unknown): unknown {
  const message = isJsonObject(choice) ? choice["message"] : null;
  if (!isJsonObject(choice) || !isJsonObject(message) || !Array.isArray(message["tool_calls"])) return choice;
  const calls = message["tool_calls"].map((call: unknown, index) =>
    isJsonObject(call) ? { ...call, index } : call,
  );
  return { ...choice, message: { ...message, tool_calls: calls } };
}
