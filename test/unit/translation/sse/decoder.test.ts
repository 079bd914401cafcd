import { describe, expect, it } from "vitest";
import { SseDecoder, type SseEvent } from "../../../../src/data-path/translation/sse/decoder.ts";
import { SseLimitError } from "../../../../src/data-path/translation/sse/line-splitter.ts";

function decode(pieces: readonly (string | Uint8Array)[], maxEventBytes = 1024): SseEvent[] {
  const decoder = new SseDecoder({ maxEventBytes });
  const events = pieces.flatMap((piece) =>
    decoder.push(typeof piece === "string" ? Buffer.from(piece) : piece),
  );
  return [...events, ...decoder.end()];
}

const message = (data: string): SseEvent => ({ event: null, data });

describe("SseDecoder", () => {
  it.each([
    { name: "LF", pieces: ["data: a\n\ndata: b\n\n"], expected: [message("a"), message("b")] },
    { name: "CRLF", pieces: ["data: a\r\n\r\ndata: b\r\n\r\n"], expected: [message("a"), message("b")] },
    { name: "CR", pieces: ["data: a\r\rdata: b\r\r"], expected: [message("a"), message("b")] },
    {
      name: "mixed line ends",
      pieces: ["data: a\r\n\ndata: b\r\r\n"],
      expected: [message("a"), message("b")],
    },
    { name: "CRLF split between pieces", pieces: ["data: a\r", "\n\r", "\n"], expected: [message("a")] },
    { name: "an empty piece inside CRLF", pieces: ["data: a\r", "", "\n", "\r\n"], expected: [message("a")] },
    { name: "several data lines", pieces: ["data: a\ndata:b\ndata\n\n"], expected: [message("a\nb\n")] },
    { name: "comments", pieces: [": ping\n:\n\n:\ndata: a\n: x\n\n"], expected: [message(""), message("a")] },
    {
      name: "an event name",
      pieces: ["event: ping\ndata: a\n\ndata: b\n\n"],
      expected: [{ event: "ping", data: "a" }, message("b")],
    },
    { name: "an empty event name", pieces: ["event:\ndata: a\n\n"], expected: [message("a")] },
    { name: "a name without data", pieces: ["event: ping\n\ndata: a\n\n"], expected: [message("a")] },
    { name: "other fields", pieces: ["id: 1\nretry: 5\ndatax: z\ndata: a\n\n"], expected: [message("a")] },
    { name: "one space only is taken off", pieces: ["data:  a \n\n"], expected: [message(" a ")] },
    { name: "a BOM", pieces: ["\uFEFFdata: a\n\n"], expected: [message("a")] },
    {
      name: "a BOM later on is data",
      pieces: ["data: a\n\ndata: \uFEFFb\n\n"],
      expected: [message("a"), message("\uFEFFb")],
    },
    {
      name: "no blank line at the end",
      pieces: ["data: a\n\ndata: b"],
      expected: [message("a"), message("b")],
    },
    { name: "an empty stream", pieces: [], expected: [] },
  ])("reads $name", ({ pieces, expected }) => {
    expect(decode(pieces)).toEqual(expected);
  });

  it("keeps characters whole that are split between pieces", () => {
    const bytes = Buffer.from("\uFEFFdata: zażółć 😀\n\n");
    expect(decode([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual([message("zażółć 😀")]);
  });

  it("hands an event over as soon as its blank line is there, even when an LF may follow the CR", () => {
    expect(new SseDecoder({ maxEventBytes: 100 }).push(Buffer.from("data: a\r\n\r"))).toEqual([message("a")]);
  });

  it.each([
    { name: "a line in one piece", pieces: [`data: ${"x".repeat(30)}\n\n`] },
    { name: "a line that never ends", pieces: ["data: ", ...Array.from({ length: 10 }, () => "xxxx")] },
    { name: "a comment that never ends", pieces: Array.from({ length: 10 }, () => ":xxx") },
    { name: "an event of many lines", pieces: Array.from({ length: 10 }, () => "data: x\n") },
  ])("refuses $name over the bound", ({ pieces }) => {
    expect(() => decode(pieces, 20)).toThrow(SseLimitError);
  });

  it("returns the events before an oversized line, then throws on every later call", () => {
    const decoder = new SseDecoder({ maxEventBytes: 10 });
    expect(decoder.push(Buffer.from(`data: a\n\ndata: ${"x".repeat(30)}`))).toEqual([message("a")]);
    expect(() => decoder.push(Buffer.from("data: b\n\n"))).toThrow(SseLimitError);
    expect(() => decoder.end()).toThrow(SseLimitError);
  });
});
