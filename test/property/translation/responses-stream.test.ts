import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { OutputItem } from "../../../src/data-path/translation/responses-to-chat/response.ts";
import {
  formatCompletion,
  type GeneratedAnswer,
  generatedAnswer,
  sliced,
  streamInOrder,
  streamMixed,
} from "../../support/chat-stream-arbitrary.ts";
import { chunk, decode, encode } from "../../support/messages-exchange.ts";
import { createAnswer, runStream, toChatMessages, toResponse } from "../../support/responses-exchange.ts";
import { checkResponseStream, parseResponseEvents } from "../../support/responses-protocol-checker.ts";
import { runs } from "../../support/extent.ts";

const withStream = (stream: (answer: GeneratedAnswer) => fc.Arbitrary<string>) =>
  generatedAnswer.chain((answer) => fc.tuple(fc.constant(answer), stream(answer)));

describe("responses stream", () => {
  it("gives the same events however its bytes are split", () => {
    const cases = withStream(streamMixed).chain(([, text]) => fc.tuple(fc.constant(text), sliced(text)));
    fc.assert(
      fc.property(cases, ([text, slices]) => {
        expect(runStream(slices).text).toBe(runStream([text]).text);
      }),
      { numRuns: runs(200) },
    );
  });

  it("gives the same events when it is split at every byte", () => {
    fc.assert(
      fc.property(withStream(streamMixed), ([, text]) => {
        const bytes = Array.from(encode(text), (byte) => new Uint8Array([byte]));
        expect(runStream(bytes).text).toBe(runStream([text]).text);
      }),
      { numRuns: runs(25) },
    );
  });

  it("follows the protocol to one last event, mixed or in order", () => {
    const cases = fc.oneof(withStream(streamInOrder), withStream(streamMixed));
    fc.assert(
      fc.property(cases, ([{ finishReason }, text]) => {
        const isIncomplete = finishReason === "length" || finishReason === "content_filter";
        const { events } = runStream([text]);
        expect(checkResponseStream(events)).toBe(isIncomplete ? "response.incomplete" : "response.completed");
      }),
      { numRuns: runs(500) },
    );
  });

  it("gives the items that the same answer as JSON gives", () => {
    fc.assert(
      fc.property(withStream(streamInOrder), ([answer, text]) => {
        const streamed = runStream([text]).response?.output ?? [];
        const whole = toResponse(formatCompletion(answer)).output;
        expect(sortItems(streamed)).toEqual(sortItems(whole));
      }),
      { numRuns: runs(300) },
    );
  });

  it("[responses.compaction.whole] carries the whole text as one summary, whatever stands around it, or fails", () => {
    const input = [{ role: "user", content: "Hello" }, { type: "compaction_trigger" }];
    fc.assert(
      fc.property(withStream(streamMixed), ([{ text, finishReason }, upstream]) => {
        const { events, response } = runStream([upstream], { input });
        const isIncomplete = finishReason === "length" || finishReason === "content_filter";
        const isEmpty = !isIncomplete && text.trim() === "";
        const ending = isIncomplete ? "incomplete" : isEmpty ? "failed" : "completed";
        expect(checkResponseStream(events)).toBe(`response.${ending}`);
        const summary = `The conversation up to here was replaced by this summary of it:\n\n${text}`;
        const output = response?.output ?? [];
        expect(output.length === 0 ? [] : toChatMessages(output)).toEqual(
          ending === "completed" ? [{ role: "user", content: summary }] : [],
        );
      }),
      { numRuns: runs(200) },
    );
  });

  it("comes back as the turn that the model wrote when its items are sent again", () => {
    fc.assert(
      fc.property(generatedAnswer, (answer) => {
        const { output } = toResponse(formatCompletion(answer));
        const turns = toChatMessages([{ role: "user", content: "Hello" }, ...output]);
        // Calls that are not answered are told that they were interrupted.
        const sent = turns.slice(1).filter(({ role }) => role !== "tool");
        const hasCalls = answer.calls.length > 0;
        const text = hasCalls && answer.text.trim() === "" ? "" : answer.text;
        const turn = {
          role: "assistant",
          content: text === "" ? null : text,
          ...(answer.reasoning !== "" && { reasoning_content: answer.reasoning }),
        };
        expect(sent).toMatchObject(text === "" && !hasCalls ? [] : [turn]);
        const calls =
          (sent[0] as undefined | { tool_calls?: { function: { name: string; arguments: string } }[] })
            ?.tool_calls ?? [];
        const list = (call: { name: string; arguments: string }) => `${call.name} ${call.arguments}`;
        expect(calls.map((call) => list(call.function)).sort()).toEqual(answer.calls.map(list).sort());
      }),
      { numRuns: runs(300) },
    );
  });

  it("is failed, never complete, wherever it is cut before its finish", () => {
    const cases = generatedAnswer
      .chain((answer) => streamInOrder({ ...answer, finishReason: "stop" }))
      .chain((text) => fc.tuple(fc.constant(encode(text)), fc.nat({ max: encode(text).length })));
    fc.assert(
      fc.property(cases, ([bytes, length]) => {
        const received = bytes.subarray(0, length);
        const { events, outputs } = runStream([received]);
        const end = checkResponseStream(events);
        const mayBeWhole = decode(received).includes('"finish_reason":"stop"');
        expect(end).toSatisfy((how) => how === "response.failed" || mayBeWhole);
        expect(outputs.at(-1)!.final).toBe(end === "response.completed");
        expect(outputs.at(-1)!.failed === null).toBe(end === "response.completed");
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
    const fields = { content: json, reasoning_content: json, refusal: json, function_call: json };
    const delta = fc.record(
      { ...fields, tool_calls: fc.oneof(json, fc.array(call, { maxLength: 3 })) },
      { requiredKeys: [] },
    );
    const piece = fc.oneof(
      delta.map((value) => chunk(value)),
      fc.tuple(delta, json).map(([value, finish_reason]) => chunk(value, { choice: { finish_reason } })),
      json.map((value) => `data: ${JSON.stringify(value)}\n\n`),
      fc.string({ maxLength: 20 }),
      fc.constant("data: [DONE]\n\n"),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), fc.boolean(), (pieces, isSummary) => {
        const tools = [{ type: "custom", name: "f" }];
        const answer = createAnswer({
          stream: true,
          tools,
          ...(isSummary && { reasoning: { summary: "auto" } }),
        });
        const outputs = [...pieces.map((text) => answer.push(encode(text))), answer.end()];
        checkResponseStream(parseResponseEvents(outputs.map(({ bytes }) => decode(bytes)).join("")));
        const first = outputs.findIndex(({ final, failed }) => final || failed !== null);
        expect(outputs.slice(first + 1).every(({ bytes }) => bytes.length === 0)).toBe(true);
      }),
      { numRuns: runs(1_000) },
    );
  });
});

/** Which of two mixed calls is seen first is the stream's affair; made-up ids follow that order. */
function sortItems(items: readonly OutputItem[]): string[] {
  return items.map((item) => JSON.stringify({ ...item, id: "" }).replace(/"call_\d+"/, '""')).sort();
}
