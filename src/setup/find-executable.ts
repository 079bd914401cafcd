import { accessSync, constants, statSync } from "node:fs";
import { delimiter, resolve } from "node:path";

/** Absolute path of the program of this name on PATH, or null. */
export function findOnPath(name: string, env: NodeJS.ProcessEnv): string | null {
  const folders = (env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  for (const folder of folders) {
    const candidate = resolve(folder, name);
    if (isExecutable(candidate)) return candidate;
  }
  return null;
}

/** Whether this user may run the file at this path. */
export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
