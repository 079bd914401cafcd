/**
 * Locations of this package's files. The build bundles modules into a few files at the top of `dist`, where a
 * module's address does not show its directory; only this module uses its own address. Files that are not
 * code have the same path below `src` and below `dist`.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** True if run from source instead of a bundle. The address of a module may have a query, for example with tsx. */
const IS_SOURCE = new URL(import.meta.url).pathname.endsWith(".ts");
const PROGRAM_FOLDER = new URL(IS_SOURCE ? "../../" : "./", import.meta.url);
const PACKAGE_FOLDER = new URL("../", PROGRAM_FOLDER);

/**
 * Returns a file of the package outside of its code, such as `proto/`; "" is the package's directory, with a
 * final slash.
 */
export function packageFile(path: string): URL {
  return new URL(path, PACKAGE_FOLDER);
}

/** Returns a file among the code: `store/lua/admit.lua`. */
export function programFile(path: string): URL {
  return new URL(path, PROGRAM_FOLDER);
}

/** Returns a module to load by path, without extension: `envoy/messages/generic-codec`. */
export function programModule(path: string): URL {
  return programFile(`${path}.${IS_SOURCE ? "ts" : "js"}`);
}

/** Returns the program's entry file, for starting its own processes: compiled or source. */
export function entryFile(): string {
  return fileURLToPath(programModule("main"));
}

/** Returns the package's version. */
export function readVersion(): string {
  const { version } = JSON.parse(readFileSync(packageFile("package.json"), "utf8")) as { version: string };
  return version;
}
