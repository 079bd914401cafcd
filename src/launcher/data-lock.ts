import { join } from "node:path";
import { tryLock } from "../setup/lock.js";
import { isRunning } from "../setup/process-identity.js";
import { pause } from "../wait.ts";
import { LaunchError } from "./launch-error.ts";
import type { ManagedProcess } from "./managed-process.ts";

const ABANDONED_BOUND_MS = 15_000;
const POLL_MS = 50;

/** The right to use a data folder; there is one launcher at a time, since two Redis would ruin the same file. */
export interface DataLock {
  /** Notes what runs on the data, so that a later start can wait for it should this process be killed. */
  noteProcesses(processes: readonly ManagedProcess[]): void;
  release(): void;
}

/**
 * Takes the data folder. Where a killed launcher left processes that are still ending, waits for them.
 * @throws LaunchError when another launcher uses the folder, or what was left does not end.
 */
export async function lockData(dataDir: string): Promise<DataLock> {
  const { lock, holder } = tryLock(join(dataDir, "up.lock"));
  if (lock === null) {
    throw new LaunchError(
      `Another gateway (process ${holder.pid}) runs on ${dataDir}: stop it, or set another \`data_dir\`.`,
    );
  }
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
          `${noted.name} of a former start still runs: end process ${noted.pid}, then start again.`,
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
