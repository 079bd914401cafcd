import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { addVisibleBytes } from "../../../src/data-path/translation/visible-bytes.ts";

const countVisibleBytes = (text: string) => addVisibleBytes(0, text);

describe("addVisibleBytes", () => {
  it.each([
    ["a b\tc\r\n", 3],
    ["Grüße", 7],
    ["你好　世界", 12],
    ["👋🏽 ok", 10],
    [" \u0000\u007f\u00a0\u00ad\u2003\u200b\u2028\u2060\u3000\ufeff", 0],
    ["–—…", 9],
  ])("of %j is %d", (text, bytes) => {
    expect(countVisibleBytes(text)).toBe(bytes);
  });

  it("adds no more once a prompt's sample is counted, and looks at no more of one text", () => {
    const long = "x".repeat(100_000);
    expect(addVisibleBytes(100, long)).toBe(2_048);
    expect(addVisibleBytes(2_048, long)).toBe(2_048);
    expect(addVisibleBytes(0, " ".repeat(2_048) + long)).toBe(0);
  });

  it("is never more than the text's bytes, and the same however much white space is in it", () => {
    const space = fc.constantFrom(" ", "\n", "\t", "\u00a0", "\u3000", "\u2009");
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.string({ unit: "grapheme" }), space)), (pieces) => {
        const text = pieces.map(([word]) => word).join("");
        const spaced = pieces.map(([word, white]) => word + white.repeat(9)).join("");
        expect(countVisibleBytes(text)).toBeLessThanOrEqual(Buffer.byteLength(text));
        expect(countVisibleBytes(spaced)).toBe(countVisibleBytes(text));
      }),
    );
  });
});
