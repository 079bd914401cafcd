import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { listNamedFiles, listSelectedFiles } from "../../support/runner/selected-files.ts";
import { listNeeds, NEEDS, type Need } from "../../support/tools/needs.ts";

const ROOT = resolve(import.meta.dirname, "../../..");

/** What these words in a test, or in a module that it imports, show that it needs. */
const SIGNS: readonly (readonly [RegExp, Need])[] = [
  [/clients\/node_modules|from "(?:openai|ai|@anthropic-ai|@ai-sdk|@langchain|@openai)[/"]/, "node-sdks"],
  [/import \{[^}]*\bwithPython \}/, "python"],
  [/\bCHROMIUM_BIN\b/, "chromium"],
  [/\bPROM(?:ETHEUS|TOOL)_BIN\b/, "prometheus"],
  [/\bHELM_BIN\b/, "helm"],
  [/"zsh"/, "shells"],
  [/\bREDIS_SERVER_BIN\b/, "redis"],
  [/import \{[^}]*\b(?:canSetRedisClock|clockAhead|startRedisWithClock|compileProgram)\b/, "compiler"],
  [/"\/?(?:\.\.\/)*dist\/main\.js"/, "build"],
];

/** What only some tests of a directory start: each row names these, and no others. */
const OF_SOME: readonly Need[] = ["compiler", "helm", "prometheus", "shells"];

/** Modules and tests that look for programs in stand-ins, or name them without starting them. */
const APART = /^test\/support\/tools\/|^test\/unit\/|^test\/setup\//;

const tests = readdirSync(join(ROOT, "test"), { recursive: true, encoding: "utf8" })
  .map((path) => `test/${path}`)
  .filter((path) => path.endsWith(".test.ts") && !path.includes("/node_modules/"));

function listModules(path: string, seen = new Set<string>()): ReadonlySet<string> {
  if (seen.has(path) || APART.test(path)) return seen;
  seen.add(path);
  const text = readFileSync(join(ROOT, path), "utf8");
  for (const [, target = ""] of text.matchAll(/(?:from|import) "(\.[^"]+\.ts)"/g)) {
    const imported = relative(ROOT, resolve(ROOT, dirname(path), target));
    if (imported.startsWith("test/")) listModules(imported, seen);
  }
  return seen;
}

function listShown(file: string): readonly Need[] {
  const text = [...listModules(file)].map((path) => readFileSync(join(ROOT, path), "utf8")).join("\n");
  return SIGNS.filter(([sign]) => sign.test(text)).map(([, need]) => need);
}

describe("what `npm test -- FILE` prepares", () => {
  it("is known for every test file, by rows that each fit one", () => {
    const starts = Object.keys(NEEDS);
    expect(tests.filter((file) => !starts.some((start) => file.startsWith(start)))).toEqual([]);
    expect(starts.filter((start) => !tests.some((file) => file.startsWith(start)))).toEqual([]);
  });

  it("has each program that a test or a module of its own starts", () => {
    const missing = tests.flatMap((file) =>
      listShown(file)
        .filter((need) => !listNeeds([file]).includes(need))
        .map((need) => `${file}: ${need}`),
    );
    expect(missing).toEqual([]);
  });

  it("has no program for a test that starts it nowhere, if only some tests of its directory do", () => {
    const looked = tests.filter((file) => !APART.test(file));
    const further = looked.flatMap((file) =>
      listNeeds([file])
        .filter((need) => OF_SOME.includes(need) && !listShown(file).includes(need))
        .map((need) => `${file}: ${need}`),
    );
    expect(further).toEqual([]);
  });

  it("is nothing for a test of a unit, and what a stack needs for one of Envoy", () => {
    expect(listNeeds(["test/unit/setup/needs.test.ts"])).toEqual([]);
    expect(listNeeds(["test/envoy/chat.test.ts"])).toEqual(["build", "redis", "envoy"]);
    expect(listNeeds(["test/store/admit.test.ts", "test/cli/completion.test.ts"])).toEqual(
      expect.arrayContaining(["redis", "build", "envoy", "shells"]),
    );
  });

  it("is read from paths, and from vitest for everything else", () => {
    const path = "test/unit/setup/needs.test.ts";
    expect(listNamedFiles(ROOT, [path, `./${path}`])).toEqual([path, path]);
    expect(listNamedFiles(ROOT, [path, "-t", "known"])).toBe(null);
    expect(listNamedFiles(ROOT, ["test/unit/setup"])).toBe(null);
  });

  it("is asked of vitest where other arguments stand beside a path, or a folder is named", async () => {
    const path = "test/unit/setup/needs.test.ts";
    expect(await listSelectedFiles(ROOT, ["--project", "unit", path])).toEqual([path]);
    expect(await listSelectedFiles(ROOT, ["test/unit/setup"])).toContain(path);
  }, 60_000);
});
