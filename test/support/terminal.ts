/** Runs a program as a person at a terminal does: a real pseudo-terminal, of a width, at which something is typed. */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { findPython } from "./python.ts";

const SCRIPT = fileURLToPath(new URL("terminal.py", import.meta.url));

export interface TerminalOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly columns?: number;
  /** Each is typed once `after` stands on the screen, behind what was waited for before. */
  readonly types?: readonly { readonly after: string; readonly text: string }[];
}

export interface TerminalResult {
  readonly code: number;
  /** Everything that was printed, with the colours; lines end with \n alone. */
  readonly screen: string;
}

/** @throws Error when it does not end within a minute, or there is no Python. */
export async function runAtTerminal(
  command: readonly string[],
  { cwd = "/", env = {}, columns = 80, types = [] }: TerminalOptions = {},
): Promise<TerminalResult> {
  // Its script imports nothing but what comes with Python.
  const python = findPython() ?? "python3";
  const inherited = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(?:IGW_|NO_COLOR|FORCE_COLOR|TERM$|XDG_)/.test(name)),
  );
  const child = spawn(python, [SCRIPT], { stdio: ["pipe", "pipe", "pipe"], timeout: 90_000 });
  const wanted = { command, cwd, columns, types, env: { ...inherited, TERM: "xterm-256color", ...env } };
  child.stdin.end(JSON.stringify(wanted));
  const [stdout, stderr, code] = await Promise.all([
    readAll(child.stdout),
    readAll(child.stderr),
    new Promise<number | null>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", resolve);
    }),
  ]);
  if (code !== 0) throw new Error(`${command.join(" ")} at a terminal: ${stderr}`);
  const result = JSON.parse(stdout) as TerminalResult;
  return { ...result, screen: result.screen.replaceAll("\r\n", "\n") };
}

async function readAll(stream: NodeJS.ReadableStream): Promise<string> {
  let text = "";
  stream.setEncoding("utf8");
  for await (const chunk of stream) text += String(chunk);
  return text;
}
