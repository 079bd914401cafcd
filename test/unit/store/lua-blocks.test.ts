import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readScript } from "../../../src/data-path/store/ioredis/scripts.ts";
import { checkBlock, checkCallers, isBlock } from "../../../src/data-path/store/redis/lua-blocks.ts";

const FOLDER = join(import.meta.dirname, "../../../src/data-path/store/lua/include");

/** Removes declarations of functions and constants, at the start of a line. */
function withoutDeclarations(lua: string): string {
  return lua
    .replaceAll(/--.*$/gm, "")
    .replaceAll(/^local function .*\n(?:(?: .*)?\n)*end$/gm, "")
    .replaceAll(/^local [\w, ]+ = .*(?:\n .*|\n\})*$/gm, "")
    .trim();
}

const FILES = readdirSync(FOLDER).map((file) => ({ file, lua: readFileSync(join(FOLDER, file), "utf8") }));

it.each(FILES.filter(({ lua }) => !isBlock(lua)))(
  "the included $file declares functions and constants only",
  ({ lua }) => {
    expect(withoutDeclarations(lua)).toBe("");
  },
);

describe("a block of Lua", () => {
  const block =
    "-- Reads: a\n-- Changes: b\nlocal own = a.field\nfor place = 1, #own do\n  b[place] = own\nend\n";

  it("loads if it uses what its header names", () => {
    expect(() => checkBlock("x.lua", block)).not.toThrow();
  });

  it.each([
    { change: "reads another name", broken: block.replace("= own\n", "= own + c\n"), name: "c" },
    { change: "changes another name", broken: block.replace("local own", "own"), name: "own" },
    { change: "does not read a name", broken: block.replace("Reads: a", "Reads: a, c"), name: "c" },
    { change: "does not change a name", broken: block.replace("Changes: b", "Changes: a, b"), name: "a" },
  ])("does not load if it $change", ({ broken, name }) => {
    expect(() => checkBlock("x.lua", broken)).toThrow(`x.lua: its use of ${name} differs`);
  });

  it.each([
    "local a, b = 1, {}\nBLOCK",
    "local function call(a, b)\nBLOCKend\n",
    "for _, a in ipairs({}) do\nlocal b = {}\nif a then\nBLOCKend\nend\n",
    "local b = {}\nwhile true do\nlocal a = 1\nrepeat\nBLOCKuntil true\nend\n",
    "local a = '-- do'\nif a then\nlocal c = 1\nend\ndo\nlocal b = {}\nBLOCKend\n",
  ])("loads where its locals are in scope: %j", (caller) => {
    expect(() => checkCallers("y.lua", caller.replace("BLOCK", block))).not.toThrow();
  });

  it.each([
    { caller: "local b = {}\nBLOCK", missing: "a" },
    { caller: "BLOCKlocal a, b = 1, {}\n", missing: "a, b" },
    { caller: "if true then\nlocal a = 1\nelse\nlocal b = {}\nBLOCKend\n", missing: "a" },
    { caller: "for a = 1, 2 do\nlocal c = a\nend\nlocal b = {}\nBLOCK", missing: "a" },
    { caller: "local b = {}\nlocal function call(a)\nend\nBLOCK", missing: "a" },
    { caller: "local b = {} -- local a = 1\nBLOCK", missing: "a" },
  ])("does not load where $missing is not in scope: $caller", ({ caller, missing }) => {
    expect(() => checkCallers("y.lua", caller.replace("BLOCK", block))).toThrow(
      `y.lua includes a block that needs the locals ${missing}, which`,
    );
  });

  it("is checked in the script that includes it", () => {
    const needed = readScript("admit.lua").replace("local levels = ''\n", "");
    expect(() => checkCallers("admit.lua", needed)).toThrow("levels");
  });
});
