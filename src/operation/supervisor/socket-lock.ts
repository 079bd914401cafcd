/**
 * The right to use a folder of sockets, taken before anything is started there: by `serve`, or by `up` for all that it
 * starts. A second gateway would take the sockets from under the first, that of its private Redis too, and the first
 * would learn of it with its next connection.
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

/** What the second gateway says. */
export function describeHolder(folder: string, pid: number): string {
  return `Another gateway (process ${pid}) has its sockets in ${folder}. ${REMEDY}`;
}

/**
 * Takes the folder for this process, until it ends; for a process that the holder has started it is taken already.
 * @throws StartError when another gateway has it
 */
export function lockSockets(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { lock, holder } = tryLock(socketLockPath(folder));
  if (lock !== null) process.once("exit", () => lock.release());
  else if (holder.pid !== process.ppid) throw new StartError(describeHolder(folder, holder.pid));
}

/**
 * Who listens in the folder without its lock: a gateway of another container, whose processes cannot be seen from here,
 * or workers that are still ending.
 * @throws StartError naming the socket
 */
export async function requireUnused(sockets: readonly string[]): Promise<void> {
  for (const path of sockets) {
    if (await isTaken(path)) throw new StartError(`Another gateway listens on ${path}. ${REMEDY}`);
  }
}

/** Who takes the connection late holds the socket, too. */
async function isTaken(path: string): Promise<boolean> {
  try {
    await tryConnect({ address: { path } }, TAKEN_PROBE_MS);
    return true;
  } catch (error) {
    return error instanceof ConnectTimeoutError;
  }
}
