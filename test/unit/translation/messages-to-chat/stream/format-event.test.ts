import * as fc from "fast-check";
import { expect, it } from "vitest";
import { formatStreamEvent } from "../../../../../src/data-path/translation/messages-to-chat/stream/format-event.ts";
import { formatEvent } from "../../../../../src/data-path/translation/sse/encoder.ts";

it("writes a piece of text as every other event is written, whatever is in it", () => {
  fc.assert(
    fc.property(fc.nat(), fc.string({ unit: "binary" }), (index, text) => {
      const event = { type: "content_block_delta", index, delta: { type: "text_delta", text } } as const;
      expect(formatStreamEvent(event)).toBe(formatEvent(event.type, event));
    }),
  );
});
