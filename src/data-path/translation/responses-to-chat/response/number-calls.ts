import { isJsonObject, type JsonObject } from "../../../../shared/text/json-object.ts";
import { listCalls, readString } from "../../upstream/read-message.ts";
import type { CreateId } from "../ids.ts";

/**
 * Prepares a whole completion to be read as a single chunk: numbers calls by position, as deltas do, and adds missing
 * ids and arguments, so that no call waits for them and the order is kept.
 */
export function numberCalls(completion: JsonObject, createId: CreateId): JsonObject {
  const { choices } = completion;
  if (!Array.isArray(choices)) return completion;
  return { ...completion, choices: choices.map((choice: unknown) => numberChoice(choice, createId)) };
}

function numberChoice(choice: unknown, createId: CreateId): unknown {
  const message = isJsonObject(choice) ? choice["message"] : null;
  if (!isJsonObject(choice) || !isJsonObject(message)) return choice;
  const calls = listCalls(message).map((call, index) => {
    if (!isJsonObject(call)) return call;
    const id = readString(call["id"]) || createId("call");
    return { ...call, id, index, function: completeFunction(call["function"]) };
  });
  return calls.length === 0 ? choice : { ...choice, message: { ...message, tool_calls: calls } };
}

function completeFunction(called: unknown): unknown {
  if (!isJsonObject(called)) return called;
  const { arguments: args } = called;
  const isNone = args === undefined || args === null || (typeof args === "string" && args.trim() === "");
  return isNone ? { ...called, arguments: "{}" } : called;
}
