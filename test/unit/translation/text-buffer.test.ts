import { describe, expect, it } from "vitest";
import { TextBuffer } from "../../../src/data-path/translation/text-buffer.ts";

describe("TextBuffer", () => {
  it("puts pieces together as UTF-8", () => {
    const buffer = new TextBuffer({ maxBytes: 100_000 });
    const pieces = Array.from({ length: 5_000 }, (_, index) => (index % 3 === 0 ? "ü🌍" : "a"));
    for (const piece of pieces) expect(buffer.append(piece)).toBe(true);
    expect(buffer.bytes.toString("utf8")).toBe(pieces.join(""));
  });

  it("takes pieces up to its bound, and nothing of one that goes over it", () => {
    const buffer = new TextBuffer({ maxBytes: 4 });
    expect(buffer.append("üa")).toBe(true);
    expect(buffer.append("ü")).toBe(false);
    expect(buffer.append("b")).toBe(true);
    expect(buffer.bytes.toString("utf8")).toBe("üab");
  });
});
