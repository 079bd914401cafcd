import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/** Writes a file atomically, readable by its owner only; creates its directory. Throws errors of the file system. */
export function writePrivateFile(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${process.pid}`;
  // Create a new file: an existing one would keep its mode.
  rmSync(draft, { force: true });
  writeFileSync(draft, `${text}\n`, { mode: 0o600, flag: "wx" });
  renameSync(draft, path);
}
