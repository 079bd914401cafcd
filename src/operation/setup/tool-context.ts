import { fileURLToPath } from "node:url";
import { packageFile } from "../../shared/host/package-files.ts";
import { runCommand } from "./run-command.js";

/** Output of a command, and its exit code: null if it could not run. */
export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** All side effects of finding and installing tools, so that tests can replace them. */
export interface ToolContext {
  readonly env: NodeJS.ProcessEnv;
  /** Directory for tools installed for this clone. */
  readonly toolsDir: string;
  readonly platform: NodeJS.Platform;
  /** Same values as `process.arch`: x64, arm64. */
  readonly architecture: string;
  readonly isRoot: boolean;
  readonly run: (
    command: string,
    args: readonly string[],
    options?: { cwd?: string; env?: NodeJS.ProcessEnv; timeoutMs?: number },
  ) => Promise<CommandResult>;
  /** Prints a notice for the user. */
  readonly notice: (line: string) => void;
  /** Prints progress. */
  readonly progress: (line: string) => void;
}

/** Origin of a tool; `wheel`, `debian` and `built` were installed by the setup. */
export type ToolSource = "environment" | "path" | "system" | "wheel" | "debian" | "built";

/** Tool that is ready to be started. */
export interface Tool {
  /** Absolute path of the program. */
  readonly path: string;
  readonly source: ToolSource;
}

const writeLine = (line: string): void => void process.stderr.write(`${line}\n`);

/** Creates the real context. Lines go to stderr by default. */
export function createToolContext(
  lines: Partial<Pick<ToolContext, "notice" | "progress">> = {},
): ToolContext {
  return {
    env: process.env,
    toolsDir: fileURLToPath(packageFile(".tools")),
    platform: process.platform,
    architecture: process.arch,
    isRoot: process.getuid?.() === 0,
    run: runCommand,
    notice: writeLine,
    progress: writeLine,
    ...lines,
  };
}
