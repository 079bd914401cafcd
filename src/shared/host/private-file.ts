import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Puts a file in its place whole, for its owner alone; its folder is made where it is missing. Throws what the file system
 * says.
 */
export function writePrivateFile(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${process.pid}`;
  // A new file: an old one would keep the mode that it has.
  rmSync(draft, { force: true });
  writeFileSync(draft, `${text}\n`, { mode: 0o600, flag: "wx" });
  renameSync(draft, path);
}
