import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync, linkSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { isRunning, readStartTime } from "./process-identity.js";

const POLL_MS = 100;
/** A takeover lasts microseconds: one that is older than this was left by a process that died in it. */
const TAKEOVER_STALE_MS = 10_000;

/**
 * Who holds a lock: the process and, where the system tells, when it started, so that another process that was later
 * given the same id is not taken for the holder. `note` is the holder's own, any JSON value.
 *
 * @typedef {{pid: number, startTime: string | null, note?: unknown}} LockHolder
 */

/**
 * A lock between processes, held until `release`. `abandoned` is what a dead former holder left, or null.
 *
 * @typedef {{abandoned: LockHolder | null, setNote: (note: unknown) => void, release: () => void}} Lock
 */

/**
 * Takes the lock when nobody alive holds it; else returns the holder. The file appears whole or not at all (it is
 * linked into place), so a reader never sees half a holder.
 *
 * @param {string} path of the lock file; its folder is made
 * @returns {{lock: Lock, holder: null} | {lock: null, holder: LockHolder}}
 * @throws when the folder cannot be written
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
 * Runs `work` alone among all processes that use this path, waiting for the others without a bound: they hold it for
 * as long as an installation takes, and a dead holder does not count.
 *
 * @template T
 * @param {string} path
 * @param {() => Promise<T>} work
 * @param {{onWait?: (holder: LockHolder) => void}} [options] `onWait` is called once, when there is a wait
 * @returns {Promise<T>}
 */
export async function withLock(path, work, options = {}) {
  let told = false;
  for (;;) {
    const { lock, holder } = tryLock(path);
    if (lock !== null) {
      try {
        return await work();
      } finally {
        lock.release();
      }
    }
    if (!told) options.onWait?.(holder);
    told = true;
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
 * @returns {boolean} false when there is a lock already
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
 * Replaces a dead holder. Two processes may both have seen the dead one: a folder that only one can make lets one of
 * them look again and replace; the other finds a live holder when its turn comes.
 *
 * @param {string} path
 * @param {LockHolder} mine
 * @returns {LockHolder | null | undefined} who was replaced (null: unreadable); undefined when it did not succeed
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
 * @returns {LockHolder | null} null when there is none, or what is there is not a lock
 */
function readHolder(path) {
  try {
    const value = JSON.parse(readFileSync(path, "utf8"));
    return Number.isSafeInteger(value?.pid) ? value : null;
  } catch {
    return null;
  }
}
