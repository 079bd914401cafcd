/** Files that a page of the documentation names, in backticks. */
import { existsSync, readFileSync } from "node:fs";

const REPOSITORY = new URL("../../../", import.meta.url);

export function readPage(path: string): string {
  return readFileSync(new URL(path, REPOSITORY), "utf8");
}

/** @param folders That their paths begin with. */
export function namedPaths(text: string, ...folders: readonly string[]): string[] {
  const path = new RegExp(`\`((?:${folders.join("|")})/[^\`]+)\``, "g");
  return Array.from(text.matchAll(path), ([, name = ""]) => name);
}

export function isThere(path: string): boolean {
  return existsSync(new URL(path, REPOSITORY));
}
