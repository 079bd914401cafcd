/** A program under test: its output is kept, its whole process group ends with the test. */
import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { waitFor, withTimeout } from "./wait.ts";

const KEPT_OUTPUT_CHARACTERS = 256 * 1024;

export interface ChildOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
}

export interface Child {
  readonly pid: number;
  /** The newest part of what it wrote to stderr. */
  readonly stderr: string;
  readonly stdoutLines: readonly string[];
  /** Exit code, the name of the signal, or null while it runs. */
  readonly ended: number | string | null;
  /** The first line of stdout for which `read` gives a value. Throws when the program ends before. */
  waitForLine<T>(what: string, read: (line: string) => T | null, timeoutMs?: number): Promise<T>;
  signal(name: NodeJS.Signals): void;
  waitForEnd(timeoutMs?: number): Promise<number | string>;
  /** SIGTERM; SIGKILL for the whole group when that takes longer than `graceMs`. */
  stop(graceMs?: number): Promise<number | string>;
}

/** Starts a program in a process group of its own. */
export function startChild(command: string, args: readonly string[], options: ChildOptions = {}): Child {
  const child = spawn(command, args, {
    cwd: options.cwd,
    env: options.env ?? process.env,
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const state = { stderr: "", lines: [] as string[], ended: null as number | string | null };
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    state.stderr = (state.stderr + text).slice(-KEPT_OUTPUT_CHARACTERS);
  });
  createInterface({ input: child.stdout }).on("line", (line) => {
    state.lines.push(line);
    if (state.lines.length > 10_000) state.lines.shift();
  });
  child.on("error", (error) => {
    state.stderr += `\n${String(error)}`;
    state.ended = "not started";
  });
  // Not "close", which waits for whoever else has inherited the output.
  child.on("exit", (code, signal) => {
    state.ended = code ?? signal ?? "unknown";
  });
  const killGroup = (): void => signalGroup(child, "SIGKILL");
  process.on("exit", killGroup);
  child.on("exit", () => process.off("exit", killGroup));
  const waitForEnd = (timeoutMs = 60_000): Promise<number | string> =>
    waitFor(`the end of ${command} ${args.join(" ")}`, () => endedValue(state.ended), { timeoutMs }).then(
      ({ value }) => value,
    );
  return {
    pid: child.pid ?? 0,
    get stderr() {
      return state.stderr;
    },
    get stdoutLines() {
      return state.lines;
    },
    get ended() {
      return state.ended;
    },
    waitForLine: (what, read, timeoutMs = 180_000) => waitForLine(state, what, read, timeoutMs),
    signal: (name) => {
      child.kill(name);
    },
    waitForEnd,
    stop: async (graceMs = 45_000) => {
      if (state.ended !== null) return state.ended;
      child.kill("SIGTERM");
      try {
        return await waitForEnd(graceMs);
      } finally {
        killGroup();
      }
    },
  };
}

/** Boxed, since an exit code of 0 would look like "not yet". */
function endedValue(ended: number | string | null): { value: number | string } | null {
  return ended === null ? null : { value: ended };
}

async function waitForLine<T>(
  state: { stderr: string; lines: string[]; ended: number | string | null },
  what: string,
  read: (line: string) => T | null,
  timeoutMs: number,
): Promise<T> {
  const search = waitFor(
    what,
    () => {
      for (const line of state.lines) {
        const value = read(line);
        if (value !== null) return { value };
      }
      return state.ended === null ? null : { value: null };
    },
    { timeoutMs, intervalMs: 25 },
  );
  const { value } = await withTimeout(what, search, timeoutMs + 5_000).catch((thrown: unknown) => {
    throw new Error(`${String(thrown)}\n${state.stderr.slice(-8_000)}`, { cause: thrown });
  });
  if (value !== null) return value;
  throw new Error(`ended (${state.ended}) before ${what}:\n${state.stderr.slice(-8_000)}`);
}

function signalGroup(child: ChildProcess, name: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, name);
  } catch (thrown) {
    // ESRCH: the group has ended by itself.
    if ((thrown as NodeJS.ErrnoException).code !== "ESRCH") throw thrown;
  }
}
