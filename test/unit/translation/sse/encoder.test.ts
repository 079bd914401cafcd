import { describe, expect, it } from "vitest";
import { formatEvent } from "../../../../src/data-path/translation/sse/encoder.ts";

describe("formatEvent", () => {
  it("writes a named event", () => {
    expect(formatEvent("ping", { type: "ping" })).toBe('event: ping\ndata: {"type":"ping"}\n\n');
  });

  it("keeps line ends inside strings out of the framing", () => {
    expect(formatEvent(null, { text: "a\r\nb" })).toBe('data: {"text":"a\\r\\nb"}\n\n');
  });
});
