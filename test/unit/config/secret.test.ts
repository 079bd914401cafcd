import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { Secret } from "../../../src/shared/config/secret.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "secret-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe("Secret", () => {
  it("reads a file without the line break at its end, and again each time", () => {
    const secret = new Secret({ file: "key" }, { baseDir: folder, env: {} });
    writeFileSync(join(folder, "key"), "first\n");
    expect(secret.reveal()).toBe("first");
    writeFileSync(join(folder, "key"), "second ");
    expect(secret.reveal()).toBe("second ");
  });

  it("names where it is kept, and nothing else, when it is shown", () => {
    const secret = new Secret({ env: "KEY" }, { baseDir: folder, env: { KEY: "hidden" } });
    expect([String(secret), JSON.stringify({ secret }), inspect(secret)]).toEqual([
      "[secret]",
      '{"secret":"[secret]"}',
      "Secret(environment variable `KEY`)",
    ]);
  });

  it.each([
    {
      name: "a variable that is not set",
      reference: { env: "NONE" },
      problem: /variable `NONE` is not set or empty/,
    },
    {
      name: "an empty variable",
      reference: { env: "EMPTY" },
      problem: /variable `EMPTY` is not set or empty/,
    },
    { name: "a file that does not exist", reference: { file: "none" }, problem: /none does not exist/ },
    { name: "a folder", reference: { file: "." }, problem: /cannot be read \(EISDIR\)/ },
  ])("explains $name", ({ reference, problem }) => {
    const secret = new Secret(reference, { baseDir: folder, env: { EMPTY: "" } });
    expect(secret.explainAbsence()).toMatch(problem);
    expect(() => secret.reveal()).toThrow(problem);
  });
});
