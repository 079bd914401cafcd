import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { tsImport } from "tsx/esm/api";
import { describe, expect, it } from "vitest";
import type * as files from "../../../src/shared/host/package-files.ts";
import { entryFile, packageFile, programFile, readVersion } from "../../../src/shared/host/package-files.ts";

const SOURCE = path.resolve(import.meta.dirname, "../../../src");

describe("files of the package", () => {
  it("are found by package-files.ts alone, since a module's own address says nothing in a bundle", () => {
    const found = readdirSync(SOURCE, { recursive: true, encoding: "utf8" })
      .filter((name) => /\.tsx?$/.test(name))
      .filter((name) => readFileSync(path.join(SOURCE, name), "utf8").includes("import.meta"));
    expect(found).toEqual(["shared/host/package-files.ts"]);
  });

  it("lie where it says", () => {
    const { version } = JSON.parse(readFileSync(packageFile("package.json"), "utf8")) as { version: string };
    expect(readVersion()).toBe(version);
    expect(readFileSync(programFile("data-path/store/lua/admit.lua"), "utf8")).toContain("KEYS[1]");
    expect(entryFile()).toBe(path.join(SOURCE, "main.ts"));
  });

  it("lie there as well for a module whose address has a query, as those that tsx imports for `npm test`", async () => {
    const imported = (await tsImport(
      "../../../src/shared/host/package-files.ts",
      import.meta.url,
    )) as typeof files;
    expect(imported.packageFile("").href).toBe(packageFile("").href);
    expect(imported.entryFile()).toBe(entryFile());
  });
});
