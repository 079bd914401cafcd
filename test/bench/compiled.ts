/** Programs in C for what must not take more of the machine than it has to: built where there is a compiler. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export interface CompiledProgram {
  readonly path: string;
  /** Deletes it. */
  remove(): void;
}

/** `name` is a file beside this one, without `.c`. Null off Linux, and where neither CC nor `cc` makes a program of it. */
export function compileProgram(name: string): CompiledProgram | null {
  if (process.platform !== "linux") return null;
  const dir = mkdtempSync(join(tmpdir(), "igw-bench-"));
  const path = join(dir, name);
  const source = fileURLToPath(new URL(`${name}.c`, import.meta.url));
  const built = spawnSync(process.env["CC"] ?? "cc", ["-O2", "-o", path, source], { stdio: "ignore" });
  const remove = (): void => rmSync(dir, { recursive: true, force: true });
  if (built.status === 0) return { path, remove };
  remove();
  return null;
}
