import { createParser } from "eventsource-parser";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SseDecoder, type SseEvent } from "../../../src/data-path/translation/sse/decoder.ts";
import { runs } from "../../support/extent.ts";

const lineEnd = fc.constantFrom("\n", "\r\n", "\r");
const line = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 12 }).map((text) => `data: ${text.replaceAll(/[\r\n]/g, "")}`),
  fc.constantFrom(
    "",
    "data",
    "data:",
    "event: ping",
    "event:",
    ": comment",
    ":",
    "id: 7",
    "retry: 10",
    "other",
  ),
);
const stream = fc
  .tuple(fc.boolean(), fc.array(fc.tuple(line, lineEnd), { maxLength: 30 }))
  .map(([bom, lines]) => (bom ? "\uFEFF" : "") + lines.map(([text, end]) => text + end).join("") + "\n\n");

function readWithOracle(bytes: Buffer): SseEvent[] {
  const events: SseEvent[] = [];
  const parser = createParser({
    onEvent: ({ event, data }) =>
      events.push({ event: event === undefined || event === "" ? null : event, data }),
  });
  // The oracle reads text and leaves the BOM to the byte decoder in front of it.
  parser.feed(new TextDecoder().decode(bytes));
  return events;
}

function readInPieces(bytes: Buffer, sizes: readonly number[]): SseEvent[] {
  const decoder = new SseDecoder({ maxEventBytes: 100_000 });
  const events: SseEvent[] = [];
  let start = 0;
  for (let index = 0; start < bytes.length; index += 1) {
    const size = sizes[index % sizes.length] ?? 1;
    events.push(...decoder.push(bytes.subarray(start, start + size)));
    start += size;
  }
  return [...events, ...decoder.end()];
}

/** Empty data are what comments alone are read as. */
const saysMore = ({ event, data }: SseEvent): boolean => event !== null || data !== "";

describe("SseDecoder", () => {
  it("reads what eventsource-parser reads, wherever the bytes are split", () => {
    fc.assert(
      fc.property(stream, fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }), (text, sizes) => {
        const bytes = Buffer.from(text);
        expect(readInPieces(bytes, sizes).filter(saysMore)).toEqual(readWithOracle(bytes).filter(saysMore));
      }),
      { numRuns: runs(500) },
    );
  });
});
