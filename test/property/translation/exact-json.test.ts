import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatJson, parseExactJson } from "../../../src/data-path/translation/json/exact-json.ts";
import { runs } from "../../support/extent.ts";

/** Beyond what a number holds exactly. */
const large = fc.bigInt({ min: 2n ** 53n, max: 10n ** 60n }).chain((value) => fc.constantFrom(value, -value));
const { value: exactValue } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.string({ unit: "grapheme" }),
    fc.string().map((text) => `"${text}\\12345678901234567890`),
    fc.maxSafeInteger(),
    fc.boolean(),
    fc.constant(null),
    large,
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(
      fc
        .oneof(fc.string({ maxLength: 4 }), fc.constant("12345678901234567890"))
        .filter((key) => key !== "__proto__"),
      tie("value"),
      { maxKeys: 4, noNullPrototype: true },
    ),
  ),
}));

/** JSON with white space between its tokens, as `JSON.stringify(_, _, 1)` puts it. */
function spread(text: string): string {
  return text.replaceAll(/(?<=^[^"]*(?:"(?:[^"\\]|\\.)*"[^"]*)*)([[\]{},:])/g, "\n$1 ");
}

describe("exact JSON", () => {
  it("reads back what it wrote, every digit of every integer included", () => {
    fc.assert(
      fc.property(exactValue, (value) => {
        const text = formatJson(value);
        expect(parseExactJson(text)).toStrictEqual(value);
        expect(parseExactJson(spread(text))).toStrictEqual(value);
        expect(formatJson(parseExactJson(text))).toBe(text);
      }),
      { numRuns: runs(1_000) },
    );
  });
});
