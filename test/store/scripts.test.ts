import { readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { AT, REPLY_LAYOUTS } from "../../src/store/redis/reply-layouts.ts";
import { readScript, SCRIPTS } from "../../src/store/ioredis/scripts.ts";

const scripts = Object.entries(SCRIPTS).map(([name, definition]) => ({ name, ...definition }));
const included = new Set(
  scripts.flatMap(({ file }) =>
    [...read(file).matchAll(/^-- @include (\S+)$/gm)].map((match) => `include/${match[1]}`),
  ),
);

function read(file: string): string {
  return readScript(file, { resolve: false });
}

/** Of texts, amounts among them: nothing is converted. */
const CONVERTED_TEXTS = ["cjson.encode({ unpack(message, 2) })", "cjson.decode(text)", "cjson.encode(texts)"];

describe("the Lua scripts", () => {
  it("are all loaded or included", () => {
    const folder = new URL("../../src/store/lua/", import.meta.url);
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) =>
      file.endsWith(".lua"),
    );
    const known = [...scripts.map(({ file }) => file as string), ...included];
    expect(new Set(known)).toEqual(new Set(files));
  });

  it.each(scripts)("$file begins with its purpose, KEYS, ARGV and reply", ({ file }) => {
    const header = /^(?:--.*\n)+/.exec(read(file))?.[0] ?? "";
    expect(header).toMatch(/^-- [A-Z]/);
    expect(header).toContain("-- KEYS[");
    expect(header).toMatch(/^-- ARGV/m);
    expect(header).toMatch(/^-- Reply: /m);
  });

  it.each(scripts)("$file says as many KEYS as it is called with", ({ file, ...rest }) => {
    const named = [...read(file).matchAll(/KEYS\[(\d+)(\.\.)?\]/g)];
    const highest = Math.max(0, ...named.map((match) => Number(match[1])));
    const varies =
      named.some((match) => match[2] !== undefined) || /KEYS\[n\]|then for each/.test(read(file));
    expect(varies ? undefined : highest).toBe("numberOfKeys" in rest ? rest.numberOfKeys : undefined);
  });

  it.each(scripts)("$file takes neither KEYS nor ARGV by number below its first lines", ({ file }) => {
    const lines = read(file)
      .split("\n")
      .filter((line) => !line.startsWith("--"));
    const last = lines.findLastIndex((line) => /(?:KEYS|ARGV)\[\d+\]/.test(line));
    const firstCode = lines.findIndex((line) => /redis\.call|^if |^for /.test(line));
    expect(last).toBeLessThan(firstCode === -1 ? lines.length : firstCode);
  });

  it.each(Object.entries(REPLY_LAYOUTS).map(([name, layout]) => ({ name, ...layout })))(
    "$file says in its header what stands where in the reply that is read as $name",
    ({ name, file, fields, ...rest }) => {
      const header = (/^(?:--.*\n)+/.exec(read(file))?.[0] ?? "").replaceAll(/\n-- */g, " ");
      const replies = [...header.matchAll(/\{([^}]*)\}/g)].map((match) => (match[1] ?? "").split(/, */));
      const inWords = (names: readonly string[]) =>
        names.map((field) => field.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`));
      expect(replies.map(([, ...behindOutcome]) => behindOutcome)).toContainEqual(inWords(fields));
      const settings = "settings" in rest ? [inWords(rest.settings)] : [];
      expect(replies).toEqual(expect.arrayContaining(settings));
      expect(Object.values(AT[name as keyof typeof AT])).toEqual(fields.map((_, index) => index + 1));
    },
  );

  it.each([
    ...scripts.map(({ file }) => ({ file: file as string })),
    ...[...included].map((file) => ({ file })),
  ])("$file neither counts by Lua's own conversions nor by cjson", ({ file }) => {
    const code = read(file).replaceAll(/--.*$/gm, "");
    const checked = CONVERTED_TEXTS.reduce((left, known) => left.replace(known, ""), code);
    expect(checked).not.toMatch(/cjson|tostring|INCRBYFLOAT|'KEYS'/);
  });
});
