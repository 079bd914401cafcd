/**
 * Where the files of this package lie. The build puts modules together into a few files at the top of `dist`, where the
 * address of a module says nothing of its folder any more; only this one asks for its own. What is no code has the same
 * path below `src` and below `dist`.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Run from its sources, and not from a bundle. The address of a module may have a query, of tsx for instance. */
const IS_SOURCE = new URL(import.meta.url).pathname.endsWith(".ts");
const PROGRAM_FOLDER = new URL(IS_SOURCE ? "../../" : "./", import.meta.url);
const PACKAGE_FOLDER = new URL("../", PROGRAM_FOLDER);

/** A file that the package has beside its code, `proto/` for instance; "" is its folder, with a slash at the end. */
export function packageFile(path: string): URL {
  return new URL(path, PACKAGE_FOLDER);
}

/** A file that lies among the code: `store/lua/admit.lua`. */
export function programFile(path: string): URL {
  return new URL(path, PROGRAM_FOLDER);
}

/** A module that is loaded by its path, without its ending: `envoy/messages/generic-codec`. */
export function programModule(path: string): URL {
  return programFile(`${path}.${IS_SOURCE ? "ts" : "js"}`);
}

/** The program itself, which starts its own processes by it: compiled or run from its sources. */
export function entryFile(): string {
  return fileURLToPath(programModule("main"));
}

/** The package's version. */
export function readVersion(): string {
  const { version } = JSON.parse(readFileSync(packageFile("package.json"), "utf8")) as { version: string };
  return version;
}
