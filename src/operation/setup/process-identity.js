import { readFileSync } from "node:fs";

/**
 * Returns when a process started, in a form that is only for comparison; null if the system does not report
 * it (anything but Linux) or there is no such process.
 *
 * @see man 5 proc, /proc/pid/stat, field 22
 * @param {number} pid
 * @returns {string | null}
 */
export function readStartTime(pid) {
  return readStat(pid)?.startTime ?? null;
}

/**
 * Returns the parent of a process, null if the system does not report it.
 *
 * @param {number} pid
 * @returns {number | null}
 */
export function readParentPid(pid) {
  return readStat(pid)?.parentPid ?? null;
}

/**
 * Returns whether the identified process still runs. A zombie does not.
 *
 * @param {{pid: number, startTime: string | null}} noted
 * @returns {boolean}
 */
export function isRunning(noted) {
  if (noted.pid <= 0) return false;
  if (process.platform === "linux") {
    const stat = readStat(noted.pid);
    if (stat === null || stat.state === "Z") return false;
    return noted.startTime === null || noted.startTime === stat.startTime;
  }
  try {
    process.kill(noted.pid, 0);
    return true;
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === "EPERM";
  }
}

/**
 * @param {number} pid
 * @returns {{state: string, parentPid: number, startTime: string} | null}
 */
function readStat(pid) {
  if (process.platform !== "linux") return null;
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The second field, the name in brackets, may contain spaces and brackets: count fields after it.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return { state: fields[0] ?? "", parentPid: Number(fields[1]), startTime: fields[19] ?? "" };
  } catch {
    return null;
  }
}
