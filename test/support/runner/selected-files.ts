import { existsSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { runCommand } from "../../../src/operation/setup/run-command.js";

/**
 * Reads the test files from arguments that are nothing but paths of test files.
 *
 * @returns Paths below the repository; null when only vitest knows which files it will run.
 */
export function listNamedFiles(root: string, args: readonly string[]): readonly string[] | null {
  const areFiles = args.every((arg) => arg.endsWith(".test.ts") && existsSync(resolve(root, arg)));
  return areFiles ? args.map((arg) => relative(root, resolve(root, arg))) : null;
}

/**
 * Asks vitest which test files it would run with these arguments: patterns, `--project`, `--shard`.
 *
 * @returns Paths below the repository; none when vitest does not understand the arguments, which it says when it runs.
 */
export async function listSelectedFiles(root: string, args: readonly string[]): Promise<readonly string[]> {
  const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
  // Last: a path behind it would be the file that vitest writes its list to.
  const list = [vitest, "list", "--filesOnly", ...args, "--json"];
  const { code, stdout } = await runCommand(process.execPath, list, { cwd: root });
  if (code !== 0) return [];
  const files = JSON.parse(stdout) as readonly { readonly file: string }[];
  return files.map(({ file }) => relative(root, file));
}
