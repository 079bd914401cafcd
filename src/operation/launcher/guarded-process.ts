import { type ChildProcess, spawn } from "node:child_process";
import type { Writable } from "node:stream";
import { ManagedProcess } from "./managed-process.ts";
import { openLogFile } from "./log-file.ts";

/**
 * A program that knows nothing of the launcher must still end with it, even when that is killed outright. So it is
 * started through a shell that leaves a guard behind and becomes the program (same process id): the guard reads from
 * a pipe whose other end only the launcher holds. A line means that all is well; the end of the pipe without one means
 * that the launcher is gone, and the guard ends the program.
 */
const GUARD_SCRIPT = '(read -r _ <&3 || kill "$$") >/dev/null 2>&1 & exec "$@" 3<&-';
const GUARD_DESCRIPTOR = 3;

export interface GuardedProcessOptions {
  /** For messages: "Envoy". */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly logPath: string;
}

/**
 * Starts a program that ends with this process however this process ends. It has a process group of its own, so that
 * the terminal's Ctrl-C reaches the launcher alone, which then stops everything in order.
 */
export function startGuarded(options: GuardedProcessOptions): ManagedProcess {
  const log = openLogFile(options.logPath);
  const child = spawn("/bin/sh", ["-c", GUARD_SCRIPT, "guard", options.command, ...options.args], {
    detached: true,
    env: options.env,
    stdio: ["ignore", log.descriptor, log.descriptor, "pipe"],
  });
  const guard = guardOf(child);
  // The guard may be gone before the line arrives.
  guard.on("error", () => undefined);
  // Dismissed as soon as the program has ended: its process id may belong to another one afterwards.
  child.once("exit", () => guard.end("\n"));
  return new ManagedProcess(options.name, child, log);
}

/**
 * The launcher's end of the pipe. Another process that is given it as well keeps the program alive until both are
 * gone.
 */
export function guardOf(child: ChildProcess): Writable {
  const stream = child.stdio[GUARD_DESCRIPTOR];
  if (stream === null || stream === undefined || !("write" in stream)) {
    throw new Error("the child has no guard");
  }
  return stream;
}
