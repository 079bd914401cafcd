import Anthropic from "@anthropic-ai/sdk";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ContentBlock, Message } from "../../src/data-path/translation/messages-to-chat/message.ts";
import {
  formatCompletion,
  type GeneratedCall,
  generatedAnswer,
  sliced,
  streamAdrift,
  streamAtZero,
  streamInOrder,
  streamMixed,
  streamTogether,
} from "../support/chat-stream-arbitrary.ts";
import {
  assistantBlocks,
  createAnswer,
  decode,
  encode,
  runStream,
  toMessage,
} from "../support/messages-exchange.ts";
import { checkMessageStream, parseMessageEvents } from "../support/messages-protocol-checker.ts";
import { runs } from "../support/extent.ts";

const SHOWN = {
  tools: ["f", "get", "get_weather"].map((name) => ({ name, input_schema: { type: "object" } })),
};
const HIDDEN = { ...SHOWN, thinking: { type: "disabled" } };

const OMITTED = { ...SHOWN, thinking: { type: "adaptive", display: "omitted" } };

const fields = fc.constantFrom<Record<string, unknown>>(SHOWN, HIDDEN, OMITTED, {});

/** What the official SDK makes of a stream. */
async function accumulate(bytes: Uint8Array): Promise<Message> {
  const client = new Anthropic({
    apiKey: "unused",
    maxRetries: 0,
    fetch: () =>
      Promise.resolve(new Response(Buffer.from(bytes), { headers: { "content-type": "text/event-stream" } })),
  });
  const stream = client.messages.stream({ model: "acme/echo", max_tokens: 1, messages: [] });
  // A field of the SDK's own, for structured output.
  const { parsed_output: _, ...message } = await stream.finalMessage();
  return JSON.parse(JSON.stringify(message)) as Message;
}

function translate(pieces: readonly Uint8Array[], request: Record<string, unknown>): Uint8Array {
  return Buffer.concat(runStream(pieces, request).outputs.map(({ bytes }) => bytes));
}

/** Content as it is heard: what is thought, said and called, whatever the order of the three. */
function digest(content: readonly ContentBlock[]) {
  const thoughts = content.flatMap((block) => (block.type === "thinking" ? [block.thinking] : []));
  const texts = content.flatMap((block) => (block.type === "text" ? [block.text] : []));
  return {
    thinking: thoughts.join(""),
    text: texts.join("").replaceAll(/\s/g, ""),
    calls: content.filter((block) => block.type === "tool_use"),
  };
}

describe("messages stream", () => {
  it("keeps to the protocol and adds up, in the official SDK, to the message of the whole answer", async () => {
    const cases = generatedAnswer.chain((answer) =>
      fc.tuple(
        fc.constant(answer),
        streamInOrder(answer).chain((text) => sliced(text)),
        fields,
      ),
    );
    await fc.assert(
      fc.asyncProperty(cases, async ([answer, pieces, request]) => {
        const bytes = translate(pieces, request);
        expect(checkMessageStream(parseMessageEvents(decode(bytes)))).toBe("message_stop");
        expect(await accumulate(bytes)).toEqual(toMessage(formatCompletion(answer), request));
      }),
      { numRuns: runs(200) },
    );
  });

  it("loses nothing and stays in order when reasoning, text and calls are mixed", async () => {
    const cases = generatedAnswer.chain((answer) =>
      fc.tuple(
        fc.constant(answer),
        streamMixed(answer).chain((text) => sliced(text)),
        fields,
      ),
    );
    await fc.assert(
      fc.asyncProperty(cases, async ([answer, pieces, request]) => {
        const bytes = translate(pieces, request);
        expect(checkMessageStream(parseMessageEvents(decode(bytes)))).toBe("message_stop");
        const message = await accumulate(bytes);
        const whole = toMessage(formatCompletion(answer), request);
        const heard = digest(message.content);
        const { calls, ...prose } = digest(whole.content);
        expect(heard).toMatchObject(prose);
        expect(sortCalls(heard.calls)).toEqual(sortCalls(calls));
        expect(message.stop_reason).toBe(whole.stop_reason);
        expect(message.usage).toEqual(whole.usage);
      }),
      { numRuns: runs(200) },
    );
  });

  it.each([
    {
      name: "has neither index nor id and comes with the others' in one chunk",
      hasIds: false,
      format: streamTogether,
    },
    { name: "stands at index 0 without an id, as all others do", hasIds: false, format: streamAtZero },
    { name: "stands at an index that counts deltas", hasIds: true, format: streamAdrift },
  ])("gives each call its own arguments when a delta $name", ({ hasIds, format }) => {
    const cases = generatedAnswer
      .map((answer) => ({
        ...answer,
        reasoning: "",
        calls: hasIds ? answer.calls : answer.calls.map(withoutId),
      }))
      .chain((answer) => fc.tuple(fc.constant(answer), format(answer)));
    return fc.assert(
      fc.asyncProperty(cases, async ([answer, text]) => {
        const bytes = translate([encode(text)], SHOWN);
        expect(checkMessageStream(parseMessageEvents(decode(bytes)))).toBe("message_stop");
        expect(await accumulate(bytes)).toEqual(toMessage(formatCompletion(answer), SHOWN));
      }),
      { numRuns: runs(200) },
    );
  });

  it("carries hidden reasoning so that the next request gives the upstream all of it back", async () => {
    const cases = generatedAnswer
      .chain((answer) => fc.tuple(fc.constant(answer), streamInOrder(answer)))
      .chain(([answer, text]) => fc.tuple(fc.constant(answer), sliced(text)));
    await fc.assert(
      fc.asyncProperty(cases, async ([answer, pieces]) => {
        const { content } = await accumulate(translate(pieces, OMITTED));
        const shown = await accumulate(translate(pieces, SHOWN));
        expect(content.filter(({ type }) => type !== "thinking")).toEqual(
          shown.content.filter(({ type }) => type !== "thinking"),
        );
        expect(assistantBlocks(...content)).toEqual(assistantBlocks(...shown.content));
        const [replayed] = assistantBlocks(...content, { type: "text", text: "." });
        expect(replayed).toMatchObject(
          answer.reasoning === "" ? {} : { reasoning_content: answer.reasoning },
        );
      }),
      { numRuns: runs(200) },
    );
  });

  it("is the same however the bytes are split", () => {
    const cases = generatedAnswer.chain((answer) =>
      streamMixed(answer).chain((text) => fc.tuple(fc.constant(text), sliced(text), fields)),
    );
    fc.assert(
      fc.property(cases, ([text, pieces, request]) => {
        expect(decode(translate(pieces, request))).toBe(decode(translate([encode(text)], request)));
      }),
      { numRuns: runs(200) },
    );
  });

  it("is an error, never a whole message, when it is cut off before the finish reason", () => {
    const cases = generatedAnswer
      .chain((answer) => streamInOrder({ ...answer, finishReason: "stop" }))
      .chain((text) => fc.tuple(fc.constant(encode(text)), fc.nat({ max: encode(text).length })));
    fc.assert(
      fc.property(cases, ([bytes, length]) => {
        const received = bytes.subarray(0, length);
        const { events, outputs } = runStream([received]);
        const end = checkMessageStream(events);
        const mayBeWhole = decode(received).includes('"finish_reason":"stop"');
        expect(end).toSatisfy((how) => how === "error" || mayBeWhole);
        expect(outputs.at(-1)!.final).toBe(end === "message_stop");
        expect(outputs.at(-1)!.failed === null).toBe(end === "message_stop");
      }),
      { numRuns: runs(200) },
    );
  });

  it("never throws and never breaks the protocol, whatever the upstream sends", () => {
    const json = fc.jsonValue({ maxDepth: 4 });
    const call = fc.record(
      { index: json, id: json, function: fc.oneof(json, fc.record({ name: json, arguments: json })) },
      { requiredKeys: [] },
    );
    const delta = fc.record(
      {
        content: json,
        reasoning_content: json,
        refusal: json,
        tool_calls: fc.oneof(json, fc.array(call, { maxLength: 3 })),
        function_call: json,
      },
      { requiredKeys: [] },
    );
    const choice = fc.record({
      index: fc.constantFrom(0, 0, 0, 1, null),
      delta,
      finish_reason: json,
      stop_reason: json,
    });
    const data = fc.oneof(
      fc
        .record({ choices: fc.array(choice, { maxLength: 2 }), usage: json })
        .map((value) => JSON.stringify(value)),
      { weight: 1, arbitrary: json.map((value) => JSON.stringify(value)) },
      fc.constant("[DONE]"),
    );
    const garbage = fc.array(
      fc.oneof(
        { weight: 5, arbitrary: data.map((text) => `data: ${text}\n\n`) },
        fc.string({ maxLength: 20 }),
      ),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(garbage, (pieces) => {
        const answer = createAnswer({ stream: true });
        const outputs = [...pieces.map((piece) => answer.push(encode(piece))), answer.end()];
        checkMessageStream(parseMessageEvents(outputs.map(({ bytes }) => decode(bytes)).join("")));
        const first = outputs.findIndex(({ final, failed }) => final || failed !== null);
        expect(outputs.slice(first + 1).every(({ bytes }) => bytes.length === 0)).toBe(true);
      }),
      { numRuns: runs(1_000) },
    );
  });
});

/** `{}` is the beginning of what follows, where neither an id nor another name says that it is a call of its own. */
function withoutId({ name, arguments: args }: GeneratedCall): GeneratedCall {
  return { id: "", name, arguments: args === "{}" ? '{"x":1}' : args };
}

/** Which of two mixed calls is seen first is the stream's affair; made-up ids follow that order. */
function sortCalls(calls: readonly ContentBlock[]): string[] {
  return calls.map((call) => JSON.stringify(call).replace(/"toolu_\d+"/, '""')).sort();
}
