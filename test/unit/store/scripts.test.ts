import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { ROWS } from "../../../src/data-path/store/redis/row-layouts.ts";
import { readScript } from "../../../src/data-path/store/ioredis/scripts.ts";
import { SCRIPTS, type ScriptLayout } from "../../../src/data-path/store/redis/script-layouts.ts";

const FOLDER = path.join(import.meta.dirname, "../../../src/data-path/store/lua");
const FILES = readdirSync(FOLDER, { recursive: true, encoding: "utf8" }).filter((file) =>
  file.endsWith(".lua"),
);
const scripts = Object.values<ScriptLayout>(SCRIPTS);

/** As it stands in its file, with its markers. */
function read(file: string): string {
  return readFileSync(path.join(FOLDER, file), "utf8");
}

function withoutComments(lua: string): string {
  return lua.replaceAll(/--.*$/gm, "");
}

/** Of texts, amounts among them: nothing is converted. */
const CONVERTED_TEXTS = ["cjson.encode({ unpack(message, 2) })", "cjson.decode(text)", "cjson.encode(texts)"];

describe("the Lua scripts", () => {
  it("are all loaded or included", () => {
    const included = FILES.flatMap((file) =>
      [...read(file).matchAll(/^-- @include (\S+)$/gm)].map((match) => `include/${match[1]}`),
    );
    expect(new Set([...scripts.map(({ file }) => file), ...included])).toEqual(new Set(FILES));
  });

  it.each(scripts)("$file begins with its purpose, KEYS, ARGV and reply", ({ file }) => {
    const header = /^(?:--.*\n)+/.exec(read(file))?.[0] ?? "";
    expect(header).toMatch(/^-- [A-Z]/);
    expect(header).toContain("-- KEYS[");
    expect(header).toMatch(/^-- ARGV/m);
    expect(header).toMatch(/^-- Reply: /m);
  });

  it.each(FILES)("%s takes no key, argument or item of a list by a number of its own", (file) => {
    expect(withoutComments(read(file))).not.toMatch(
      /(?:KEYS|ARGV|shared|each|list)\[\d+\]|unpack\((?:KEYS|ARGV), \d/,
    );
  });

  it.each(scripts)("$file has a local for each key and argument, in the order of the table", (layout) => {
    const { file, keys, arguments: named, furtherKeys, furtherArguments } = layout;
    const lua = readScript(file, { resolve: false });
    const snakeCase = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    const names = Object.keys(named);
    const locals = [
      ...(keys.length > 0 ? [`local ${keys.map(snakeCase).join(", ")} = KEYS[1]`] : []),
      ...(names.length > 0 ? [`local ${names.map(snakeCase).join(", ")} = `] : []),
    ];
    expect(locals.filter((line) => !lua.includes(line))).toEqual([]);
    expect(new Set([...keys, ...names]).size).toBe(keys.length + names.length);
    expect(lua.includes(`FIRST_FURTHER_KEY = ${keys.length + 1}\n`)).toBe(
      furtherKeys === true && read(file).includes("-- @input"),
    );
    expect(lua.includes(`FIRST_FURTHER_ARGUMENT = ${names.length + 1}\n`)).toBe(furtherArguments === true);
  });

  it("go through lists in steps as long as their rows", () => {
    const steps = FILES.flatMap((file) => [
      ...read(file).matchAll(/for position = [^\n]*, (\d)(?: do)\n(?:\s*[^\n]*\n)?-- @row ([a-z-]+)/g),
    ]);
    expect(steps.length).toBeGreaterThan(3);
    for (const [, step, row = ""] of steps) {
      expect([row, Number(step)]).toEqual([row, ROWS[row as keyof typeof ROWS].length]);
    }
    const starts = FILES.flatMap((file) => [
      ...read(file).matchAll(
        /local (?:first|place) = [^\n]*?(\d) \* (?:position|\(position - 1\)|\(place - FIRST_FURTHER_KEY\))[^\n]*\n-- @row ([a-z-]+)/g,
      ),
    ]);
    expect(starts.map(([, , row = ""]) => row).toSorted()).toEqual([
      "ended-owner",
      "logged-request",
      "renewed-keys",
      "single-charge",
    ]);
    for (const [, length, row = ""] of starts) {
      expect([row, Number(length)]).toEqual([row, ROWS[row as keyof typeof ROWS].length]);
    }
  });

  it.each(FILES)("%s has no marker left when it is loaded", (file) => {
    const loaded = readScript(file, { resolve: !file.startsWith("include/") });
    expect(loaded).not.toMatch(/^-- @(?!include)/m);
  });

  it.each(FILES)("%s neither counts by Lua's own conversions nor by cjson", (file) => {
    const code = withoutComments(read(file));
    const checked = CONVERTED_TEXTS.reduce((left, known) => left.replace(known, ""), code);
    expect(checked).not.toMatch(/cjson|tostring|INCRBYFLOAT|'KEYS'/);
  });
});
