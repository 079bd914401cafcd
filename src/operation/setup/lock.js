import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync, linkSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { isRunning, readStartTime } from "./process-identity.js";

const POLL_MS = 100;
/** Time after which a takeover was abandoned by a dead process; it normally takes microseconds. */
const TAKEOVER_STALE_MS = 10_000;

/**
 * Holder of a lock: the process and, if the system reports it, its start time, so that a later process with
 * the same id is not taken for the holder. `note` is any JSON value of the holder.
 *
 * @typedef {{pid: number, startTime: string | null, note?: unknown}} LockHolder
 */

/**
 * Lock between processes, held until `release`. `abandoned` is the dead previous holder, or null.
 *
 * @typedef {{abandoned: LockHolder | null, setNote: (note: unknown) => void, release: () => void}} Lock
 */

/**
 * Takes the lock if no living process holds it; otherwise returns the holder. The file appears atomically (by
 * a link), so a reader never sees a partial holder.
 *
 * @param {string} path of the lock file; its directory is created
 * @returns {{lock: Lock, holder: null} | {lock: null, holder: LockHolder}}
 * @throws if the directory cannot be written
 */
export function tryLock(path) {
  mkdirSync(dirname(path), { recursive: true });
  const mine = { pid: process.pid, startTime: readStartTime(process.pid) };
  const first = linkInto(path, mine);
  if (first) return { lock: createLock(path, mine, null), holder: null };
  const holder = readHolder(path);
  if (holder !== null && isRunning(holder)) return { lock: null, holder };
  const abandoned = takeOver(path, mine);
  if (abandoned !== undefined) return { lock: createLock(path, mine, abandoned), holder: null };
  return { lock: null, holder: readHolder(path) ?? { pid: 0, startTime: null } };
}

/**
 * Runs `work` exclusively among all processes that use this path. Waits for others without a bound: they hold
 * the lock during an installation, and a dead holder does not count.
 *
 * @template T
 * @param {string} path
 * @param {() => Promise<T>} work
 * @param {{onWait?: (holder: LockHolder) => void}} [options] `onWait` is called once if there is a wait
 * @returns {Promise<T>}
 */
export async function withLock(path, work, options = {}) {
  let isReported = false;
  for (;;) {
    const { lock, holder } = tryLock(path);
    if (lock !== null) {
      try {
        return await work();
      } finally {
        lock.release();
      }
    }
    if (!isReported) options.onWait?.(holder);
    isReported = true;
    await pause(POLL_MS);
  }
}

/**
 * @param {string} path
 * @param {LockHolder} mine
 * @param {LockHolder | null} abandoned
 * @returns {Lock}
 */
function createLock(path, mine, abandoned) {
  return {
    abandoned,
    setNote: (note) => {
      const draft = `${path}.${process.pid}`;
      writeFileSync(draft, JSON.stringify({ ...mine, note }), { mode: 0o600 });
      renameSync(draft, path);
    },
    release: () => rmSync(path, { force: true }),
  };
}

/**
 * @param {string} path
 * @param {LockHolder} holder
 * @returns {boolean} false if there is a lock already
 */
function linkInto(path, holder) {
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, JSON.stringify(holder), { mode: 0o600 });
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === "EEXIST") return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/**
 * Replaces a dead holder. If two processes have seen the same dead holder, a directory that only one can
 * create lets that one check again and replace it; the other then finds a living holder.
 *
 * @param {string} path
 * @param {LockHolder} mine
 * @returns {LockHolder | null | undefined} the replaced holder (null: unreadable); undefined if it failed
 */
function takeOver(path, mine) {
  const section = `${path}.takeover`;
  try {
    mkdirSync(section);
  } catch {
    removeStaleSection(section);
    return undefined;
  }
  try {
    const holder = readHolder(path);
    if (holder !== null && isRunning(holder)) return undefined;
    rmSync(path, { force: true });
    return linkInto(path, mine) ? holder : undefined;
  } finally {
    rmSync(section, { recursive: true, force: true });
  }
}

/** @param {string} section */
function removeStaleSection(section) {
  const stat = statSync(section, { throwIfNoEntry: false });
  if (stat !== undefined && Date.now() - stat.mtimeMs > TAKEOVER_STALE_MS) {
    rmSync(section, { recursive: true, force: true });
  }
}

/**
 * @param {string} path
 * @returns {LockHolder | null} null if the file is missing or is not a lock
 */
function readHolder(path) {
  try {
    const value = JSON.parse(readFileSync(path, "utf8"));
    return Number.isSafeInteger(value?.pid) ? value : null;
  } catch {
    return null;
  }
}
