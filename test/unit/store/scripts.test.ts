import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { ADMITTED_SETTINGS } from "../../../src/data-path/store/redis/reply-layouts.ts";
import { listOf, ROWS } from "../../../src/data-path/store/redis/row-layouts.ts";
import { RECENT_TEXTS } from "../../../src/data-path/store/requests/recent-entry.ts";
import { REFUSED_FIELDS } from "../../../src/data-path/store/requests/refused-entry.ts";
import { readScript } from "../../../src/data-path/store/ioredis/scripts.ts";
import {
  compileInput,
  SCRIPTS,
  type ScriptLayout,
} from "../../../src/data-path/store/redis/script-layouts.ts";
import { KEY_SETTINGS } from "../../../src/shared/settings/key.ts";
import { ORGANIZATION_SETTINGS } from "../../../src/shared/settings/organization.ts";

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

const snakeCase = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

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

describe("lists that scripts share with TypeScript, in the order of their table", () => {
  const loaded = scripts.map(({ file }) => readScript(file)).join("\n");

  it.each(Object.entries(ROWS))("row %s, on both sides", (name, fields) => {
    expect(loaded).toContain(`local ${fields.map(snakeCase).join(", ")} = `);
    const named = Object.fromEntries(fields.map((field) => [field, field]));
    expect(listOf[name as keyof typeof ROWS](named as never)).toEqual(fields);
  });

  it.each(scripts)("keys and arguments of $file, as they are sent", (layout) => {
    const { keys, arguments: named } = layout;
    const names = Object.keys(named);
    const given = Object.fromEntries([...keys, ...names].map((name) => [name, name]));
    const sent = compileInput(layout)("sha", { ...given, furtherKeys: [], furtherArguments: [] });
    const kept = names.map((name) => (named[name] === "flag" ? "1" : name));
    expect(sent).toEqual(["sha", String(keys.length), ...keys, ...kept]);
  });

  it.each([
    "{ day = string.format('day:%d', number), week = string.format('week:%d', math.floor((number + 3) / 7)), month = month, total = 'total' }",
    "{ day = ((number + 1) * 1 - 0) * 86400000, week = ((math.floor((number + 3) / 7) + 1) * 7 - 3) * 86400000, month = first_day(",
    "{ day = 1, week = 2, month = 3, total = 4 }",
    "{ day = 1296000000, week = 1900800000 }",
  ])("periods: %s", (text) => {
    expect(loaded).toContain(text);
  });

  it.each(Object.entries({ REFUSED_FIELDS, RECENT_TEXTS }))("%s", (constant, names) => {
    expect(loaded).toContain(`local ${constant} = { ${names.map((name) => `'${name}'`).join(", ")} }\n`);
  });

  it("an admission's settings, in its reply and in its header", () => {
    const settings = [
      ...Object.entries(KEY_SETTINGS).map(([name, row]) => [`key${name}`, row] as const),
      ...Object.entries(ORGANIZATION_SETTINGS).map(([name, row]) => [`organization${name}`, row] as const),
    ].map(([name, row]) => [name.toLowerCase(), "field" in row ? row.field : row.apiName] as const);
    const fieldOf = new Map([["keydisplay", "display"], ...settings]);
    const fieldsOf = (owner: string) =>
      ADMITTED_SETTINGS.filter((name) => name.startsWith(owner) && fieldOf.has(name.toLowerCase()))
        .map((name) => `'${fieldOf.get(name.toLowerCase())}'`)
        .join(", ");
    expect(loaded).toContain(`local key_texts = redis.call('HMGET', key_record, ${fieldsOf("key")})\n`);
    expect(loaded).toContain(
      `local organization_texts = redis.call('HMGET', organization, ${fieldsOf("organization")})\n`,
    );
    const inWords = (name: string) => snakeCase(name).replaceAll("_", " ");
    expect(loaded).toContain(`{${ADMITTED_SETTINGS.map(inWords).join(", ")}}\n`);
  });
});
