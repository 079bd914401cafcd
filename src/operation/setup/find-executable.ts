import { accessSync, constants, statSync } from "node:fs";
import { delimiter, resolve } from "node:path";

/** Returns the absolute path of the program with this name on PATH, or null. */
export function findOnPath(name: string, env: NodeJS.ProcessEnv): string | null {
  const folders = (env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  for (const folder of folders) {
    const candidate = resolve(folder, name);
    if (isExecutable(candidate)) return candidate;
  }
  return null;
}

/** Returns whether this user may run the file at this path. */
export function isExecutable(path: string): boolean {
  return explainUnusable(path) === null;
}

/** Returns why the file at this path cannot be run, as the rest of a sentence: "does not exist"; null if it can. */
export function explainUnusable(path: string): string | null {
  try {
    const found = statSync(path);
    if (found.isDirectory()) return "is a directory, not a program";
    if (!found.isFile()) return "is no file";
    accessSync(path, constants.X_OK);
    return null;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return "does not exist";
    if (code === "EACCES") return "isn't executable for this user";
    return `can't be executed (${code ?? String(error)})`;
  }
}
