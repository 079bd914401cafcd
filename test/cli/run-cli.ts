/** Runs the built command as a person at a shell does. */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

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
}

/** Nothing of this shell's own settings reaches the command. */
export function runCli(args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  const inherited = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith("IGW_")),
  );
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd: options.cwd ?? "/",
    env: { ...inherited, ...options.env },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: 60_000,
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) =>
      resolve({ code, stdout, stderr, json: () => JSON.parse(stdout) as Record<string, unknown> }),
    );
  });
}
