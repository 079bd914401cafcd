import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";

const SCRIPTS = new URL("../../../src/data-path/store/lua/", import.meta.url);
const read = (file: string): string => readFileSync(new URL(file, SCRIPTS), "utf8");
const FILES = readdirSync(SCRIPTS, { recursive: true, encoding: "utf8" }).filter((file) =>
  file.endsWith(".lua"),
);

/** Settings that an admission reads only if the record's stamp names them. */
const RARE = new Set(
  Array.from(read("admit.lua").matchAll(/'((?:\w+ )+\w+)'/g)).flatMap(([, names = ""]) => names.split(" ")),
);
const WRITE = /'HSET', (?:record|key_record|organization), '(\w+)'/g;
const NOTICED = /change_record\(|'version', '1'|'HDEL', \w+, 'stamp'/;

it("a script that writes a rare setting changes the record's version, or deletes its stamp", () => {
  const writers = FILES.filter((file) =>
    Array.from(read(file).matchAll(WRITE)).some(([, name = ""]) => RARE.has(name)),
  );
  expect(writers).toContain("delete-key.lua");
  expect(writers).toContain("include/sessions.lua");

  expect(writers.filter((file) => !NOTICED.test(read(file)))).toEqual([]);
});
