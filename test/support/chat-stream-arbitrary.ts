/** Random answers of a chat completion upstream, and random ways to stream them. */
import * as fc from "fast-check";
import { chunk, DONE, event } from "./messages-exchange.ts";

export interface GeneratedCall {
  /** Empty: the upstream gives none. */
  readonly id: string;
  readonly name: string;
  /** JSON text of an object. */
  readonly arguments: string;
}

export interface GeneratedAnswer {
  readonly reasoning: string;
  readonly text: string;
  readonly calls: readonly GeneratedCall[];
  readonly finishReason: string | null;
}

export const GENERATED_USAGE = {
  prompt_tokens: 120,
  completion_tokens: 34,
  prompt_tokens_details: { cached_tokens: 20 },
};

/** What one chunk carries. */
type Delta = Record<string, unknown>;

const prose = fc.oneof(
  fc.constant(""),
  fc.constantFrom(" ", "\n\n", "\n Hi", "Grüße 🌍", "a\u2028b"),
  fc.string({ unit: "grapheme", maxLength: 40 }),
);

const calls = fc.uniqueArray(
  fc.record({
    id: fc.oneof({ weight: 4, arbitrary: fc.string({ minLength: 1, maxLength: 8 }) }, fc.constant("")),
    name: fc.constantFrom("f", "get_weather", "get", "ü"),
    arguments: fc
      .dictionary(fc.string({ maxLength: 5 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 })
      .map((input) => JSON.stringify(input)),
  }),
  { maxLength: 5, selector: ({ id }) => (id === "" ? Symbol("none") : id) },
);

/** An answer as a model gives it: reasoning, text, tool calls, end. */
export const generatedAnswer: fc.Arbitrary<GeneratedAnswer> = fc.record({
  reasoning: prose,
  text: prose,
  calls,
  finishReason: fc.constantFrom("stop", "tool_calls", "length", "content_filter", "eos_token", null),
});

/** The answer as one whole completion. */
export function formatCompletion(answer: GeneratedAnswer): Record<string, unknown> {
  const message = formatMessage(answer);
  return { choices: [{ index: 0, message, finish_reason: answer.finishReason }], usage: GENERATED_USAGE };
}

function formatMessage(answer: GeneratedAnswer): Record<string, unknown> {
  const tool_calls = answer.calls.map(({ id, name, arguments: args }) => ({
    ...(id !== "" && { id }),
    type: "function",
    function: { name, arguments: args },
  }));
  return { role: "assistant", reasoning_content: answer.reasoning, content: answer.text, tool_calls };
}

/** The answer as a stream in the order of its parts; tool calls one after the other or mixed. */
export function streamInOrder(answer: GeneratedAnswer): fc.Arbitrary<string> {
  return fc
    .tuple(
      splitProse("reasoning_content", answer.reasoning),
      splitProse("content", answer.text),
      splitCalls(answer.calls),
    )
    .chain(([reasoning, text, toolCalls]) =>
      frame([...reasoning, ...text, ...toolCalls], answer.finishReason, formatMessage(answer)),
    );
}

/** The answer as a stream in which everything is mixed with everything. */
export function streamMixed(answer: GeneratedAnswer): fc.Arbitrary<string> {
  return fc
    .tuple(
      splitProse("reasoning_content", answer.reasoning),
      splitProse("content", answer.text),
      splitCalls(answer.calls),
    )
    .chain((lists) => interleave(lists))
    .chain((deltas) => frame(deltas, answer.finishReason, formatMessage(answer)));
}

/** The answer as a stream of a server without indexes and ids, which sends a piece of every call in each chunk. */
export function streamTogether(answer: GeneratedAnswer): fc.Arbitrary<string> {
  return fc.tuple(...answer.calls.map((call) => splitText(call.arguments))).chain((split) => {
    const steps = Math.max(0, ...split.map((pieces) => pieces.length));
    const heads = answer.calls.map(({ name }) => ({ function: { name } }));
    const rest = Array.from({ length: steps }, (_, step) =>
      split.map((pieces) => ({ function: { arguments: pieces[step] ?? "" } })),
    );
    const deltas = answer.calls.length === 0 ? [] : [heads, ...rest].map((tool_calls) => ({ tool_calls }));
    return frame([{ content: answer.text }, ...deltas], answer.finishReason);
  });
}

/** The answer as a stream of a server that numbers each call 0 and gives no ids; some repeat the name with each piece. */
export function streamAtZero(answer: GeneratedAnswer): fc.Arbitrary<string> {
  return fc
    .tuple(fc.boolean(), ...answer.calls.map((call) => splitText(call.arguments)))
    .chain(([repeats, ...split]) => {
      const deltas = answer.calls.flatMap(({ name }, at) => [
        entry(0, { name, arguments: "" }),
        ...split[at]!.map((piece) => entry(0, { ...(repeats && { name }), arguments: piece })),
      ]);
      return frame([{ content: answer.text }, ...deltas], answer.finishReason);
    });
}

/** The answer as a stream of a server that counts its deltas where others number the call. */
export function streamAdrift(answer: GeneratedAnswer): fc.Arbitrary<string> {
  return fc.tuple(...answer.calls.map((call) => splitText(call.arguments))).chain((split) => {
    const pieces = answer.calls.flatMap(({ id, name }, at) => [
      { id, name },
      ...split[at]!.map((piece) => ({ arguments: piece })),
    ]);
    const deltas = pieces.map((piece, index) => entry(index, piece));
    return frame([{ content: answer.text }, ...deltas], answer.finishReason);
  });
}

/** The bytes of a stream in random pieces. */
export function sliced(text: string): fc.Arbitrary<Uint8Array[]> {
  const bytes = new TextEncoder().encode(text);
  return fc.array(fc.nat({ max: bytes.length }), { maxLength: 12 }).map((cuts) => {
    const points = [0, ...cuts.sort((a, b) => a - b), bytes.length];
    return points.slice(1).map((end, at) => bytes.subarray(points[at], end));
  });
}

function splitProse(field: string, text: string): fc.Arbitrary<Delta[]> {
  return splitText(text).map((pieces) => pieces.map((piece) => ({ [field]: piece })));
}

/** By whole characters: an upstream that cuts them in two sends no valid text. */
function splitText(text: string): fc.Arbitrary<string[]> {
  const characters = Array.from(text);
  return fc.array(fc.nat({ max: characters.length }), { maxLength: 4 }).map((cuts) => {
    const points = [0, ...cuts.sort((a, b) => a - b), characters.length];
    return points.slice(1).map((end, at) => characters.slice(points[at], end).join(""));
  });
}

function splitCalls(list: readonly GeneratedCall[]): fc.Arbitrary<Delta[]> {
  const each = list.map((call, index) =>
    fc.tuple(splitText(call.arguments), splitText(call.name), fc.boolean()).map(([args, names, repeats]) => {
      // The name in pieces, in front of the arguments; every further piece of some upstreams repeats id and name.
      const head = names
        .filter(Boolean)
        .map((name, at) => entry(index, { ...(at === 0 && { id: call.id }), name }));
      const rest = args.map((piece) =>
        entry(index, { ...(repeats && { id: call.id, name: call.name }), arguments: piece }),
      );
      return [...head, ...rest];
    }),
  );
  if (each.length === 0) return fc.constant([]);
  return fc.tuple(fc.tuple(...each), fc.boolean()).chain(([perCall, isMixed]) => {
    if (!isMixed) return fc.constant(perCall.flat());
    const heads = perCall.map(([first]) => first!);
    return interleave(perCall.map((deltas) => deltas.slice(1))).map((rest) => [...heads, ...rest]);
  });
}

function entry(index: number, call: { id?: string; name?: string; arguments?: string }): Delta {
  const { id, ...called } = call;
  return { tool_calls: [{ index, ...(id !== undefined && { id }), function: called }] };
}

/** Keeps the order within each list. */
function interleave(lists: readonly (readonly Delta[])[]): fc.Arbitrary<Delta[]> {
  const total = lists.reduce((sum, list) => sum + list.length, 0);
  return fc.array(fc.nat(), { minLength: total, maxLength: total }).map((picks) => {
    const queues = lists.map((list) => [...list]);
    return picks.map((pick) => {
      const open = queues.filter((queue) => queue.length > 0);
      return open[pick % open.length]!.shift()!;
    });
  });
}

/**
 * Chunks around the deltas: usage anywhere, keep-alives, filter results, a reason to end with each piece, every way to end.
 * @param whole The message that some servers put into the last chunk.
 */
function frame(
  deltas: readonly Delta[],
  finishReason: string | null,
  whole: Record<string, unknown> | null = null,
): fc.Arbitrary<string> {
  const noise = fc.constantFrom("", "", "", ": ping\n\n", event({ choices: [], prompt_filter_results: [] }));
  return fc
    .record({
      noises: fc.array(noise, { minLength: deltas.length + 1, maxLength: deltas.length + 1 }),
      usageEarly: fc.boolean(),
      usageAtFinish: fc.boolean(),
      finishWithLast: fc.boolean(),
      finishEarly: fc.boolean(),
      repeatsWhole: fc.boolean(),
      isDone: fc.boolean(),
      lineEnd: fc.constantFrom("\n", "\r\n", "\r"),
    })
    .map(
      ({ noises, usageEarly, usageAtFinish, finishWithLast, finishEarly, repeatsWhole, isDone, lineEnd }) => {
        const withUsage = { body: { usage: GENERATED_USAGE } };
        const last = finishWithLast ? deltas.at(-1) : undefined;
        const body = last === undefined ? deltas : deltas.slice(0, -1);
        const early = {
          ...(usageEarly && withUsage),
          ...(finishEarly && { choice: { finish_reason: "stop" } }),
        };
        const chunks = body.map((delta, at) => noises[at]! + chunk(delta, early));
        const finish = chunk(last ?? {}, {
          choice: { finish_reason: finishReason, ...(repeatsWhole && whole !== null && { message: whole }) },
          ...(usageAtFinish && withUsage),
        });
        const usage = usageAtFinish ? "" : event({ choices: [], usage: GENERATED_USAGE });
        const end = isDone || finishReason === null ? DONE : "";
        const text = [chunk({ role: "assistant", content: "" }), ...chunks, finish, usage, end].join("");
        return text.replaceAll("\n", lineEnd);
      },
    );
}
