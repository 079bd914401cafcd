import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { describe, expect, it } from "vitest";

import { ConfigError, type ConfigProblem } from "../../../src/shared/config/config-error.ts";
import { parseConfig } from "../../../src/shared/config/load.ts";

/** Each `bad-*.yaml` is `good.yaml` with one mistake; `expected-problems.json` says what must be told of it. */
const folder = fileURLToPath(new URL("../../fixtures/config", import.meta.url));

function readExpected(): [string, ConfigProblem][] {
  const text = readFileSync(`${folder}/expected-problems.json`, "utf8");
  const expected: Record<string, ConfigProblem> = JSON.parse(text);
  return Object.entries(expected);
}

function problemsOf(file: string): readonly ConfigProblem[] {
  try {
    const text = readFileSync(`${folder}/${file}`, "utf8");
    parseConfig(text, { baseDir: "/etc/gateway", env: { HOME: "/home/gateway" } });
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

describe("parseConfig of a file with one mistake", () => {
  const expected = readExpected();

  it.each(expected)("tells that of %s, with its path, its line and what was expected", (file, problem) => {
    expect(problemsOf(file)).toEqual([problem]);
  });

  it("is shown for every bad file that there is", () => {
    const files = readdirSync(folder).filter((file) => file.startsWith("bad-"));
    expect(files.sort()).toEqual(expected.map(([file]) => file).sort());
  });

  it("finds nothing in the good file that the bad ones were made of", () => {
    expect(problemsOf("good.yaml")).toEqual([]);
  });
});
