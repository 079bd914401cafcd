/** Answers of chat completion upstreams that clients of the messages route are shown. */
import { finishChunk, type ReportedUsage, type ScriptedAnswer } from "../support/scripted-answer.ts";
import { textChunk, textCompletion, usageChunk } from "../support/scripted-answer.ts";

export const USAGE: ReportedUsage = { promptTokens: 11, cachedTokens: 4, completionTokens: 2 };

export interface Call {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

export const PARIS: Call = { id: "call_Paris", name: "get_weather", arguments: '{"city":"Paris"}' };
export const ROME: Call = { id: "call_Rome", name: "get_weather", arguments: '{"city":"Rome","days":[1,2]}' };

export const WEATHER_SCHEMA = {
  type: "object" as const,
  properties: { city: { type: "string" } },
  required: ["city"],
};

export const WEATHER_TOOL = {
  name: "get_weather",
  description: "The weather in a city",
  input_schema: WEATHER_SCHEMA,
};

/** A chunk with this delta. */
export function deltaChunk(delta: object): object {
  return textChunk("", { choices: [{ index: 0, delta, finish_reason: null }] });
}

/** A JSON answer with this message. */
export function messageAnswer(
  message: object,
  finishReason = "stop",
  usage: ReportedUsage = USAGE,
): ScriptedAnswer {
  const choices = [{ index: 0, message: { role: "assistant", ...message }, finish_reason: finishReason }];
  return { kind: "json", body: textCompletion("", usage, { choices }) };
}

/** A stream of these deltas after the one with the role, with its finish reason and usage. */
export function deltaStream(
  deltas: readonly object[],
  finishReason = "stop",
  usage: ReportedUsage = USAGE,
): ScriptedAnswer {
  return {
    kind: "events",
    events: [
      deltaChunk({ role: "assistant", content: "" }),
      ...deltas.map(deltaChunk),
      finishChunk(finishReason),
      usageChunk(usage),
    ],
  };
}

/** A stream of these texts. */
export function textStream(...texts: readonly string[]): ScriptedAnswer {
  return deltaStream(texts.map((content) => ({ content })));
}

export function formatCall({ id, name, arguments: text }: Call): object {
  return { id, type: "function", function: { name, arguments: text } };
}

/** A JSON answer that calls these tools. */
export function callAnswer(...calls: readonly Call[]): ScriptedAnswer {
  return messageAnswer({ content: null, tool_calls: calls.map(formatCall) }, "tool_calls");
}

/** Deltas of one call: its head, then its arguments in pieces of `size` characters. */
export function callDeltas(call: Call, index: number, size = 5): object[] {
  const pieces = call.arguments.match(new RegExp(`.{1,${size}}`, "gsu")) ?? [];
  const head = { index, id: call.id, type: "function", function: { name: call.name, arguments: "" } };
  return [
    { tool_calls: [head] },
    ...pieces.map((piece) => ({ tool_calls: [{ index, function: { arguments: piece } }] })),
  ];
}

/** Takes from each list in turn until all are empty. */
export function interleave<T>(...lists: readonly (readonly T[])[]): T[] {
  const longest = Math.max(...lists.map((list) => list.length));
  return Array.from({ length: longest }, (_, position) =>
    lists.flatMap((list) => list.slice(position, position + 1)),
  ).flat();
}
