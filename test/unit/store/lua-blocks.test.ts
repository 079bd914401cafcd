import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readScript } from "../../../src/data-path/store/ioredis/scripts.ts";

const FOLDER = join(import.meta.dirname, "../../../src/data-path/store/lua/include");
const KEYWORDS =
  "and break do else elseif end false for function if in local nil not or repeat return then true until while";
const GLOBALS = "redis string math table struct cjson ipairs pairs tonumber tostring type unpack next error";
const KNOWN = new Set(`${KEYWORDS} ${GLOBALS}`.split(" "));

/** Names of the caller that a block uses, and those of them that it assigns or adds items to. */
function readBlock(lua: string): { used: string[]; changed: string[] } {
  const code = lua.replaceAll(/--.*$/gm, "").replaceAll(/'[^'\n]*'/g, "''");
  const declared = new Set(
    [...code.matchAll(/\b(?:local|for) (?!function)([\w, ]+?)(?= =| in |\n)/g)].flatMap(([, names = ""]) =>
      names.split(", "),
    ),
  );
  const names = (text: string): string[] => [
    ...new Set(
      text.match(/(?<![.:\w])[A-Za-z_]\w*/g)?.filter((name) => !KNOWN.has(name) && !declared.has(name)),
    ),
  ];
  const assigned = [...code.matchAll(/^ *(?!local )([\w, ]+?|\w+\[.*?\]) = /gm)];
  const changed = assigned.flatMap(([, target = ""]) => names(target.replace(/\[.*/, "")));
  return { used: names(code).toSorted(), changed: [...new Set(changed)].toSorted() };
}

function readContract(lua: string): { used: string[]; changed: string[] } | null {
  const [, reads, changes] = /^-- Reads: (.*)\n-- Changes: (.*)$/m.exec(lua) ?? [];
  if (reads === undefined || changes === undefined) return null;
  const split = (text: string): string[] => (text === "none" ? [] : text.split(", "));
  const changed = split(changes).toSorted();
  return { used: [...new Set([...split(reads), ...changed])].toSorted(), changed };
}

/** Removes declarations of functions and constants, at the start of a line. */
function withoutDeclarations(lua: string): string {
  return lua
    .replaceAll(/--.*$/gm, "")
    .replaceAll(/^local function .*\n(?:(?: .*)?\n)*end$/gm, "")
    .replaceAll(/^local [\w, ]+ = .*(?:\n .*|\n\})*$/gm, "")
    .trim();
}

const FILES = readdirSync(FOLDER).map((file) => ({
  file,
  lua: readScript(`include/${file}`, { resolve: false }),
}));
const isBlock = ({ lua }: { readonly lua: string }): boolean => readContract(lua) !== null;

describe("an included file", () => {
  it.each(FILES.filter(isBlock))("$file names what it reads and changes", ({ lua }) => {
    expect(readBlock(lua)).toEqual(readContract(lua));
  });

  it.each(FILES.filter((one) => !isBlock(one)))("$file declares functions and constants only", ({ file }) => {
    expect(withoutDeclarations(readFileSync(join(FOLDER, file), "utf8"))).toBe("");
  });
});

describe("a block", () => {
  const block =
    "-- Reads: a\n-- Changes: b\nlocal own = a.field\nfor place = 1, #own do\n  b[place] = own\nend\n";

  it("is held to its contract", () => {
    expect(readBlock(block)).toEqual(readContract(block));
    expect(readBlock(block.replace("= own\n", "= own + c\n")).used).toContain("c");
    expect(readBlock(block.replace("local own", "own")).changed).toContain("own");
  });
});
