/**
 * Exclusive lock of a socket directory, taken before anything is started there: by `serve`, or by `up` for
 * all its processes. Otherwise a second gateway would replace the sockets of the first and of its private
 * Redis, unnoticed until the next connection.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { ConnectTimeoutError, tryConnect } from "../../shared/host/connect.ts";
import { tryLock } from "../setup/lock.js";
import { StartError } from "./start-error.ts";

const LOCK_FILE = "gateway.lock";
const TAKEN_PROBE_MS = 1_000;
const REMEDY = "Stop it, or set another `sidecar.sockets`.";

export function socketLockPath(folder: string): string {
  return join(folder, LOCK_FILE);
}

/** Formats the error for the second gateway. */
export function describeHolder(folder: string, pid: number): string {
  return `Another gateway (process ${pid}) has its sockets in ${folder}. ${REMEDY}`;
}

/**
 * Locks the directory until this process ends; does nothing in a process that the holder has started.
 * @throws StartError if another gateway holds it
 */
export function lockSockets(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { lock, holder } = tryLock(socketLockPath(folder));
  if (lock !== null) process.once("exit", () => lock.release());
  else if (holder.pid !== process.ppid) throw new StartError(describeHolder(folder, holder.pid));
}

/**
 * Checks that no socket in the directory has a listener without the lock: a gateway in another container,
 * whose processes are invisible here, or workers that are still ending.
 * @throws StartError naming the socket
 */
export async function requireUnused(sockets: readonly string[]): Promise<void> {
  for (const path of sockets) {
    if (await isTaken(path)) throw new StartError(`Another gateway listens on ${path}. ${REMEDY}`);
  }
}

/** Returns true also for a listener that accepts late. */
async function isTaken(path: string): Promise<boolean> {
  try {
    await tryConnect({ address: { path } }, TAKEN_PROBE_MS);
    return true;
  } catch (error) {
    return error instanceof ConnectTimeoutError;
  }
}
