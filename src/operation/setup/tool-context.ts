import { fileURLToPath } from "node:url";
import { packageFile } from "../../shared/host/package-files.ts";
import { runCommand } from "./run-command.js";

/** What one command printed, and its exit code: null when it could not run. */
export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** All that finding and installing a tool touches outside of this process, so that tests can stand in for it. */
export interface ToolContext {
  readonly env: NodeJS.ProcessEnv;
  /** Folder for what is installed for this clone alone. */
  readonly toolsDir: string;
  readonly platform: NodeJS.Platform;
  /** As `process.arch` names it: x64, arm64. */
  readonly architecture: string;
  readonly isRoot: boolean;
  readonly run: (
    command: string,
    args: readonly string[],
    options?: { cwd?: string; env?: NodeJS.ProcessEnv; timeoutMs?: number },
  ) => Promise<CommandResult>;
  /** A line for the person at the terminal: what is to be known. */
  readonly notice: (line: string) => void;
  /** Another one: what goes on at the moment. */
  readonly progress: (line: string) => void;
}

/** Where a tool was found; `wheel`, `debian` and `built` are what the set-up installed itself. */
export type ToolSource = "environment" | "path" | "system" | "wheel" | "debian" | "built";

/** A tool that is ready to be started. */
export interface Tool {
  /** Absolute path of the program. */
  readonly path: string;
  readonly source: ToolSource;
}

const writeLine = (line: string): void => void process.stderr.write(`${line}\n`);

/** The real surroundings. Lines go to stderr unless they are taken elsewhere. */
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
