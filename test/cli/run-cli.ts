/** Runs the built command as a person at a shell does. */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { runAtTerminal, type TerminalOptions, type TerminalResult } from "../support/terminal.ts";

const MAIN = fileURLToPath(new URL("../../dist/main.js", import.meta.url));

export interface CliResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Parses stdout. */
  json(): Record<string, unknown>;
}

export interface CliOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** What is piped into it; nothing when left out. */
  readonly input?: string;
  /** Called with what it writes there, as it comes. */
  readonly onStderr?: (text: string) => void;
}

/** Where no `login` has kept anything. */
const NO_LOGIN = { XDG_CONFIG_HOME: "/nonexistent" };

/** Nothing of this shell's own settings reaches the command. */
export function environmentOfCli(own: CliOptions["env"] = {}): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(?:IGW_|NO_COLOR|FORCE_COLOR)/.test(name),
  );
  return { ...Object.fromEntries(inherited), ...NO_LOGIN, ...own };
}

/** As a process of its own, which ends by itself. */
export function runCli(args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd: options.cwd ?? "/",
    env: environmentOfCli(options.env),
    stdio: ["pipe", "pipe", "pipe"],
    timeout: 60_000,
  });
  // Whoever does not read its input may end before it is written.
  child.stdin.on("error", () => undefined).end(options.input ?? "");
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
    options.onStderr?.(text);
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) =>
      resolve({ code, stdout, stderr, json: () => JSON.parse(stdout) as Record<string, unknown> }),
    );
  });
}

/** The same at a terminal. */
export function typeCli(args: readonly string[], options: TerminalOptions = {}): Promise<TerminalResult> {
  return runAtTerminal([process.execPath, MAIN, ...args], {
    ...options,
    env: { ...NO_LOGIN, ...options.env },
  });
}
