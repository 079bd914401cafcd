import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decode, runStream as runMessages } from "../../support/messages-exchange.ts";
import { runStream as runResponses } from "../../support/responses-exchange.ts";
import { createAnswer, streamThrough } from "../../unit/translation/chat-to-chat/chat-fixtures.ts";
import { runs } from "../../support/extent.ts";

/** What may stand in a chunk in the place of its text: what JSON makes of a text, and what only other writers make. */
const written = fc.oneof(
  { weight: 6, arbitrary: fc.string({ maxLength: 8 }).map(escape) },
  { weight: 6, arbitrary: fc.string({ unit: "grapheme", maxLength: 8 }).map(escape) },
  { weight: 1, arbitrary: fc.constantFrom("\\u0061", "\\ud83d", "\\ude00", "\\/", "\u2028", "\u007f", "") },
  // No JSON, or not what its writer meant: the stream fails there, or has another member.
  { weight: 1, arbitrary: fc.constantFrom("\\", "\\u12", "\t", '","role":"assistant', '"', '","x":"\\') },
);
/** Events between those that are alike. */
const other = fc.constantFrom(
  ": keep-alive\n\n",
  "\n",
  "event: chunk\n",
  'data: {"choices":[],"usage":null}\n\n',
  'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"x"},"finish_reason":null}]}\n\n',
  'data: {"choices":[{"index":0,"delta":{"reasoning_content":"hm"},"finish_reason":null}]}\n\n',
  'data:{"choices":[{"index":0,"delta":{"content":"y"},"finish_reason":null}]}\r\n\r\n',
);
const END =
  'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n' +
  'data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7}}\n\ndata: [DONE]\n\n';
const stream = fc
  .tuple(
    fc.constantFrom("m", "modèle", "模型"),
    fc.array(
      fc.oneof({ weight: 8, arbitrary: written.map((text) => ({ text })) }, { weight: 1, arbitrary: other }),
      { maxLength: 30 },
    ),
    fc.integer({ min: 0, max: 12 }),
  )
  .map(([model, events, wrongByte]) => {
    const alike = (text: string): string =>
      `data: {"id":"c","model":"${model}","choices":[{"index":0,"delta":{"content":"${text}"},"finish_reason":null}]}\n\n`;
    const bytes = Buffer.from(
      events.map((event) => (typeof event === "string" ? event : alike(event.text))).join("") + END,
    );
    // Now and then a byte that no UTF-8 has.
    const at = bytes.indexOf('"},"finish_reason"', bytes.length >> 1);
    if (wrongByte === 0 && at > 0) bytes[at - 1] = 0xff;
    return bytes;
  });

function escape(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** All at once, event by event, and byte by byte, which never shows two events that are alike. */
function waysToCut(bytes: Buffer): Buffer[][] {
  const events = bytes.toString("latin1").split(/(?<=\n\n)/);
  return [
    [bytes],
    events.map((event) => Buffer.from(event, "latin1")),
    Array.from(bytes, (byte) => Buffer.from([byte])),
  ];
}

describe("events that differ in their text alone", () => {
  it("pass as if each had been read by itself", () => {
    fc.assert(
      fc.property(stream, (bytes) => {
        const [first, ...others] = waysToCut(bytes).map((pieces) => {
          const answer = createAnswer({ stream: true });
          const streamed = streamThrough(answer, pieces);
          return { streamed, ...answer.observation, text: answer.observation.generatedText };
        });
        for (const one of others) expect(one).toEqual(first);
      }),
      { numRuns: runs(200) },
    );
  });

  it("become the same message as if each had been read by itself", () => {
    fc.assert(
      fc.property(stream, (bytes) => {
        const [first, ...others] = waysToCut(bytes).map((pieces) =>
          decode(Buffer.concat(runMessages(pieces, {}).outputs.map((output) => output.bytes))),
        );
        for (const one of others) expect(one).toBe(first);
      }),
      { numRuns: runs(200) },
    );
  });

  it("become the same response as if each had been read by itself", () => {
    fc.assert(
      fc.property(stream, (bytes) => {
        const [first, ...others] = waysToCut(bytes).map((pieces) => runResponses(pieces).text);
        for (const one of others) expect(one).toBe(first);
      }),
      { numRuns: runs(200) },
    );
  });
});
