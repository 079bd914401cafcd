import { describe, expect, it } from "vitest";
import { cleanLines, cleanScreen, cleanText, escapeHidden } from "../../../src/shared/text/plain-text.ts";

/** C1 controls do in one byte what escape sequences do, and marks of direction turn a line around. */
const MARKS = ["\u007f", "\u0085", "\u009b", "\u061c", "\u200e", "\u202e", "\u2066", "\u2069", "\u2028"];

describe("foreign text", () => {
  it.each(MARKS)("has nothing that a terminal would obey: %j", (mark) => {
    expect(cleanText(`a${mark}b`)).toBe("a\ufffdb");
    expect(cleanLines(`a${mark}b\nc\u001b`)).toBe("a\ufffdb\nc\ufffd");
    expect(cleanScreen(`a${mark}b\nc\u001b[2J`)).toBe("a\ufffdb\nc\ufffd[2J");
    const json = escapeHidden(JSON.stringify({ name: `a${mark}b` }));
    expect(json).toMatch(/^[\x20-\x7e]+$/);
    expect(JSON.parse(json)).toEqual({ name: `a${mark}b` });
  });

  it("keeps a screen's own colours and no others, which may hide what stands there", () => {
    expect(cleanScreen("\u001b[31mbad\u001b[0m\tx\r\n")).toBe("\u001b[31mbad\u001b[0m\tx\r\n");
    expect(cleanScreen("\u001b[8mhidden")).toBe("\ufffd[8mhidden");
  });

  it("keeps what scripts and emoji are written with", () => {
    const text = "größe 日本語 עברית 👩‍💻";
    expect([cleanText(text), escapeHidden(text)]).toEqual([text, text]);
  });
});
