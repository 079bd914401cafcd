/**
 * What other languages make of the OpenAPI documents: Python's own validator, and the regular expressions of Python and Go.
 * Without Go its half is skipped; what RE2 lacks is then still refused by the syntax that `test/unit/admin` allows.
 */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { listPatterns, OPENAPI_DOCUMENTS, PARTING_TEXTS } from "../support/openapi-documents.ts";
import { withPython } from "../support/python.ts";

const GO_PROGRAM = fileURLToPath(new URL("./go/match-patterns.go", import.meta.url));
const question = { patterns: listPatterns(), texts: PARTING_TEXTS };
const inJavaScript = question.patterns.map((pattern) =>
  PARTING_TEXTS.map((text) => new RegExp(pattern, "u").test(text)),
);

const { error: noGo } = spawnSync("go", ["version"]);
if (noGo !== undefined) process.stderr.write(`skipped, Go is not here: ${noGo.message}\n`);

describe("Python", () => {
  const player = withPython("openapi_document.py");

  it.each(OPENAPI_DOCUMENTS)("finds nothing wrong with $name", async ({ content }) => {
    expect(await player.play("validate", content)).toEqual([]);
  });

  it("finds what is wrong with a document", async () => {
    const broken = { ...OPENAPI_DOCUMENTS[0]?.content, servers: "here" };
    expect(await player.play("validate", broken)).toEqual([
      expect.stringMatching(/^servers: 'here' is not of type 'array'/) as string,
    ]);
  });

  it("compiles every pattern and reads it as JavaScript does", async () => {
    expect(question.patterns.length).toBeGreaterThan(10);
    expect(await player.play("match", question)).toEqual(inJavaScript);
  });
});

describe.skipIf(noGo !== undefined)("Go", () => {
  it("compiles every pattern by RE2's syntax and reads it as JavaScript does", () => {
    // The module that the folder may be in is none of its business, and no other toolchain is fetched for it.
    const env = { ...process.env, GO111MODULE: "off", GOTOOLCHAIN: "local" };
    const { status, stdout, stderr } = spawnSync("go", ["run", GO_PROGRAM], {
      env,
      input: JSON.stringify(question),
      encoding: "utf8",
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(JSON.parse(stdout)).toEqual(inJavaScript);
  });
});
