/**
 * Where the files of this package lie. The build puts modules together into a few files at the top of `dist`, where the
 * address of a module of a folder says nothing any more: this one lies at the top of `src`, and so at the same depth in
 * both. What is no code has the same path below `src` and below `dist`.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const PROGRAM_FOLDER = new URL("./", import.meta.url);
const PACKAGE_FOLDER = new URL("../", import.meta.url);

/** A file that the package has beside its code, `proto/` for instance; "" is its folder, with a slash at the end. */
export function packageFile(path: string): URL {
  return new URL(path, PACKAGE_FOLDER);
}

/** A file that lies among the code: `store/lua/admit.lua`. */
export function programFile(path: string): URL {
  return new URL(path, PROGRAM_FOLDER);
}

/** The program itself, which starts its own processes by it: compiled or run from its sources. */
export function entryFile(): string {
  return fileURLToPath(programFile(import.meta.url.endsWith(".ts") ? "main.ts" : "main.js"));
}

/** The package's version. */
export function readVersion(): string {
  const { version } = JSON.parse(readFileSync(packageFile("package.json"), "utf8")) as { version: string };
  return version;
}
