import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { tryLock } from "../setup/lock.js";
import { isRunning } from "../setup/process-identity.js";
import { describeHolder, socketLockPath } from "../supervisor/socket-lock.ts";
import { pause } from "../../shared/event-loop/wait.ts";
import { LaunchError } from "./launch-error.ts";
import type { ManagedProcess } from "./managed-process.ts";

const ABANDONED_BOUND_MS = 15_000;
const POLL_MS = 50;

/** Exclusive lock of a directory by one launcher. */
export interface FolderLock {
  /**
   * Records the processes that use the directory, so that a later start can wait for them if this process is
   * killed.
   */
  noteProcesses(processes: readonly ManagedProcess[]): void;
  release(): void;
}

/** Locks the data directory: two Redis servers would corrupt the same file. Waits and throws like `lockFolder`. */
export function lockData(dataDir: string): Promise<FolderLock> {
  return lockFolder(
    join(dataDir, "up.lock"),
    (pid) => `Another gateway (process ${pid}) runs on ${dataDir}: stop it, or set another \`data_dir\`.`,
  );
}

/** Locks the socket directory, as plain `serve` does. Waits and throws like `lockFolder`. */
export function lockSocketFolder(folder: string): Promise<FolderLock> {
  return lockFolder(socketLockPath(folder), (pid) => describeHolder(folder, pid));
}

/**
 * Locks a directory by its lock file. Waits for processes that a killed launcher has left and that are still
 * ending.
 * @throws LaunchError if another process has the lock, or remaining processes do not end.
 */
async function lockFolder(path: string, describe: (pid: number) => string): Promise<FolderLock> {
  // The lock is in the data directory, which is private.
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const { lock, holder } = tryLock(path);
  if (lock === null) throw new LaunchError(describe(holder.pid));
  try {
    await waitForEnd(parseProcesses(lock.abandoned?.note));
  } catch (error) {
    lock.release();
    throw error;
  }
  return {
    noteProcesses: (processes) => lock.setNote(processes.map((one) => one.identity)),
    release: () => lock.release(),
  };
}

type NotedProcess = ManagedProcess["identity"];

async function waitForEnd(processes: readonly NotedProcess[]): Promise<void> {
  const deadlineMs = performance.now() + ABANDONED_BOUND_MS;
  for (const noted of processes) {
    while (isRunning(noted)) {
      if (performance.now() > deadlineMs) {
        throw new LaunchError(
          `${noted.name} of a previous start is still running. End process ${noted.pid}, then start again.`,
        );
      }
      await pause(POLL_MS);
    }
  }
}

function parseProcesses(note: unknown): readonly NotedProcess[] {
  if (!Array.isArray(note)) return [];
  return note.filter(
    (entry: unknown): entry is NotedProcess =>
      typeof entry === "object" && entry !== null && "pid" in entry && Number.isSafeInteger(entry.pid),
  );
}
