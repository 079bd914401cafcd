/** Lines of the log: each is found by its words, in lower case, and names what it is about in fields. */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";

const SOURCE = path.resolve(import.meta.dirname, "../../../src");
/** Fields, if they stand in the call, and the message. */
const CALL =
  /\b(?:logger|log)\??\.(?:debug|info|warn|error|fatal)\(\s*(?:\{([^{}]*)\}|[\w.]+),\s*"([^"]+)",?\s*\)/g;

const LINES = readdirSync(SOURCE, { recursive: true, encoding: "utf8" })
  .filter((name) => /\.tsx?$/.test(name))
  .flatMap((name) => {
    const text = readFileSync(path.join(SOURCE, name), "utf8");
    return Array.from(text.matchAll(CALL), ([, fields = "", message = ""]) => ({ name, fields, message }));
  });

it("are found in the source", () => {
  expect(LINES.length).toBeGreaterThan(40);
});

describe.each(LINES)("$name: $message", ({ fields, message }) => {
  it("is lower case, without an article in front or a full stop, and short", () => {
    expect(message).toMatch(/^(?!(?:an?|the|that|where|what) )[a-z][^.]*$/);
    expect(message.length).toBeLessThanOrEqual(110);
  });

  it("has fields in snake case", () => {
    const names = fields
      .split(",")
      .map((field) => field.trim().split(":")[0] ?? "")
      .filter((field) => /^[A-Za-z]/.test(field));
    expect(names.filter((field) => !/^[a-z][a-z_]*$/.test(field))).toEqual([]);
  });
});
