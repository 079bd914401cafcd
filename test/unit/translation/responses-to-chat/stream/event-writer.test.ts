import * as fc from "fast-check";
import { expect, it } from "vitest";
import { createRandomIds } from "../../../../../src/data-path/translation/responses-to-chat/ids.ts";
import { EventWriter } from "../../../../../src/data-path/translation/responses-to-chat/stream/event-writer.ts";
import { formatEvent } from "../../../../../src/data-path/translation/sse/encoder.ts";

it("writes a piece of text as every other event is written, whatever is in it", () => {
  fc.assert(
    fc.property(fc.nat(), fc.nat(), fc.string({ unit: "binary" }), (output_index, content_index, delta) => {
      const type = "response.output_text.delta" as const;
      const item_id = createRandomIds("msg");
      const event = { type, item_id, output_index, content_index, delta, logprobs: [] };
      const writer = new EventWriter({});
      for (const sequence_number of [0, 1]) {
        expect(writer.formatItemEvent(event)).toBe(formatEvent(type, { ...event, sequence_number }));
      }
    }),
  );
});
