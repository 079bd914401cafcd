import { describe, expect, it } from "vitest";
import { splitText } from "../../../src/data-path/settlement/tokens/split-text.ts";

describe("splitText", () => {
  it.each([
    ["nothing", ""],
    ["a short text", "hello"],
    ["words", "the quick brown fox ".repeat(200)],
    ["one long word", "a".repeat(5_000)],
    ["white space only", " \n".repeat(3_000)],
    ["pairs of surrogates at odd places", `x${"😀".repeat(2_000)}`],
    ["a long word among short ones", `hello ${"b".repeat(1_500)} world`],
  ])("gives back every character of %s, in pieces of at most 512", (_name, text) => {
    const pieces = [...splitText(text)];
    expect(pieces.join("")).toBe(text);
    expect(Math.max(0, ...pieces.map((piece) => piece.length))).toBeLessThanOrEqual(512);
    expect(pieces).not.toContain("");
  });

  it("cuts before the space that begins a word", () => {
    const pieces = [...splitText(" word".repeat(300))];
    expect(pieces.every((piece) => piece.startsWith(" word") && piece.endsWith("word"))).toBe(true);
  });

  it("never cuts through a pair of surrogates", () => {
    const pieces = [...splitText(`x${"😀".repeat(2_000)}`)];
    expect(pieces.filter((piece) => Buffer.from(piece).includes("\u{fffd}"))).toEqual([]);
  });
});
