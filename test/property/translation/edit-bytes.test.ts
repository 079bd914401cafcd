import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { editBytes } from "../../../src/data-path/translation/json/edit-bytes.ts";
import { applyEdits } from "../../../src/data-path/translation/json/object-spans.ts";
import { runs } from "../../support/extent.ts";

/** Whole characters: a place within one would be no place in its bytes. */
const characters = fc.array(
  fc.oneof(fc.string({ maxLength: 4 }), fc.constantFrom("é", "字", "🎉", "\u2028")),
  {
    maxLength: 20,
  },
);
const places = fc.uniqueArray(fc.nat({ max: 20 }), { maxLength: 6 });

describe("edits of a text's bytes", () => {
  it("are the bytes of the edited text", () => {
    fc.assert(
      fc.property(
        characters,
        places,
        fc.string({ unit: "grapheme", maxLength: 5 }),
        (pieces, at, replacement) => {
          const text = pieces.join("");
          const indexes = at
            .map((place) => pieces.slice(0, place).join("").length)
            .toSorted((left, right) => left - right);
          const edits = indexes.flatMap((start, index) => {
            const end = indexes[index + 1] ?? text.length;
            return index % 2 === 0 ? [{ start, end, replacement }] : [];
          });
          const edited = editBytes(Buffer.from(text), text, edits).toString("utf8");
          expect(edited).toBe(applyEdits(text, edits));
        },
      ),
      { numRuns: runs(500) },
    );
  });
});
