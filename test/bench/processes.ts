/** CPU time and memory of the processes under measurement, from Linux's /proc. */
import { readdirSync, readFileSync } from "node:fs";

/** `sysconf(_SC_CLK_TCK)`: 100 on every Linux that Node runs on. */
const MS_PER_TICK = 10;

/** Those of the gateway first; the other two are what the load comes from and where it ends. */
export const PROCESS_KINDS = ["sidecar", "supervisor", "envoy", "redis", "mock", "generator"] as const;
export type ProcessKind = (typeof PROCESS_KINDS)[number];

export interface Process {
  readonly pid: number;
  readonly kind: ProcessKind;
  readonly args: readonly string[];
}

/** `rootPid` and everything below it, by what it is. */
export function findProcesses(rootPid: number): Process[] {
  const children = new Map<number, number[]>();
  for (const entry of readdirSync("/proc")) {
    const pid = Number(entry);
    if (!Number.isInteger(pid)) continue;
    const parent = Number(readStatFields(pid)?.[1] ?? "0");
    children.set(parent, [...(children.get(parent) ?? []), pid]);
  }
  const found: Process[] = [];
  const queue = [rootPid];
  for (const pid of queue) {
    const args = readArgs(pid);
    if (args.length > 0) found.push({ pid, args, kind: classify(args) });
    queue.push(...(children.get(pid) ?? []));
  }
  return found;
}

/** User and system time in milliseconds, summed over the processes; the time of those that have ended is missing. */
export function readCpuMs(processes: readonly Process[]): number {
  return processes.reduce((sum, { pid }) => sum + (readThreadsCpuMs(pid) ?? readTicksCpuMs(pid)), 0);
}

/**
 * Time of all threads to the nanosecond. Null if the kernel keeps no such figures.
 * @see https://docs.kernel.org/scheduler/sched-stats.html#proc-pid-schedstat
 */
function readThreadsCpuMs(pid: number): number | null {
  if (readProc(pid, "schedstat") === null) return null;
  return readdirSync(`/proc/${pid}/task`)
    .map((thread) => Number(readProc(pid, `task/${thread}/schedstat`)?.split(" ")[0] ?? 0) / 1e6)
    .reduce((sum, ms) => sum + ms, 0);
}

/** The same in steps of 10 ms. */
function readTicksCpuMs(pid: number): number {
  const fields = readStatFields(pid);
  // utime and stime: fields 14 and 15 of the file, counted after the name.
  return (Number(fields?.[11] ?? 0) + Number(fields?.[12] ?? 0)) * MS_PER_TICK;
}

/** CPU time of the whole machine since it began, in ticks: all of it, and what its host gave to others meanwhile. */
export interface MachineTicks {
  readonly all: number;
  readonly idle: number;
  /** 0 where there is no host, or it does not say. */
  readonly stolen: number;
}

/** @see https://man7.org/linux/man-pages/man5/proc_stat.5.html */
export function readMachineTicks(): MachineTicks {
  const [total = ""] = readFileSync("/proc/stat", "utf8").split("\n");
  // user, nice, system, idle, iowait, irq, softirq, steal; what guests of this machine take is in the first of them.
  const ticks = total.split(/\s+/u).slice(1, 9).map(Number);
  const all = ticks.reduce((sum, part) => sum + part, 0);
  return { all, idle: (ticks[3] ?? 0) + (ticks[4] ?? 0), stolen: ticks[7] ?? 0 };
}

/** CPU time of the programs that this process started and that have ended, in milliseconds. */
export function readEndedChildrenCpuMs(): number {
  const fields = readStatFields(process.pid);
  // cutime and cstime.
  return (Number(fields?.[13] ?? 0) + Number(fields?.[14] ?? 0)) * MS_PER_TICK;
}

/** Resident memory in megabytes, summed over the processes. */
export function readRssMegabytes(processes: readonly Process[]): number {
  let kilobytes = 0;
  for (const { pid } of processes) {
    kilobytes += Number(/^VmRSS:\s+(\d+)/mu.exec(readProc(pid, "status") ?? "")?.[1] ?? 0);
  }
  return kilobytes / 1024;
}

function classify(args: readonly string[]): ProcessKind {
  const program = args[0]?.split("/").at(-1) ?? "";
  if (program.startsWith("envoy")) return "envoy";
  if (program.startsWith("redis-server")) return "redis";
  return args.includes("worker") ? "sidecar" : "supervisor";
}

/** The fields of /proc/<pid>/stat after the name, which may contain spaces: state, parent, … */
function readStatFields(pid: number): string[] | null {
  const stat = readProc(pid, "stat");
  return stat === null ? null : stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

function readArgs(pid: number): string[] {
  // Programs that name themselves, as Redis does, write spaces instead of zeros.
  return (readProc(pid, "cmdline") ?? "").split(/[\0 ]/u).filter((arg) => arg !== "");
}

function readProc(pid: number, file: string): string | null {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ESRCH") return null;
    throw thrown;
  }
}
