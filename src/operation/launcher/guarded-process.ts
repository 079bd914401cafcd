import { type ChildProcess, spawn } from "node:child_process";
import type { Writable } from "node:stream";
import { ManagedProcess } from "./managed-process.ts";
import { openLogFile } from "./log-file.ts";

/**
 * Starts a program through a shell, so that it ends with the launcher even if that is killed. The shell
 * leaves a guard process and becomes the program (same process id). The guard reads from a pipe whose other
 * end only the launcher has. A line means a normal end; end-of-file without a line means that the launcher is
 * gone, and the guard ends the program.
 */
const GUARD_SCRIPT = '(read -r _ <&3 || kill "$$") >/dev/null 2>&1 & exec "$@" 3<&-';
const GUARD_DESCRIPTOR = 3;

export interface GuardedProcessOptions {
  /** Name for messages: "Envoy". */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly logPath: string;
}

/**
 * Starts a program that ends with this process in every case. It has its own process group, so that the
 * terminal's Ctrl-C only reaches the launcher, which then stops everything in order.
 */
export function startGuarded(options: GuardedProcessOptions): ManagedProcess {
  const log = openLogFile(options.logPath);
  const child = spawn("/bin/sh", ["-c", GUARD_SCRIPT, "guard", options.command, ...options.args], {
    detached: true,
    env: options.env,
    stdio: ["ignore", log.descriptor, log.descriptor, "pipe"],
  });
  const guard = guardOf(child);
  // The guard may end before the line arrives.
  guard.on("error", () => undefined);
  // Dismissed as soon as the program has ended, because its process id may be reused.
  child.once("exit", () => guard.end("\n"));
  return new ManagedProcess(options.name, child, log);
}

/** Returns the launcher's end of the pipe. A second process with it keeps the program alive until both are gone. */
export function guardOf(child: ChildProcess): Writable {
  const stream = child.stdio[GUARD_DESCRIPTOR];
  if (stream === null || stream === undefined || !("write" in stream)) {
    throw new Error("the child has no guard");
  }
  return stream;
}
