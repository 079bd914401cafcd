import { readdirSync, readFileSync } from "node:fs";
import { waitFor } from "./wait.ts";

/** Pids of the processes of a gateway that were started with this configuration: `worker` in the order of their index. */
export function listProcesses(configFile: string, command: "serve" | "worker" | "admin"): readonly number[] {
  const found: { readonly pid: number; readonly index: number }[] = [];
  for (const entry of readdirSync("/proc")) {
    if (!/^\d+$/.test(entry)) continue;
    const args = readCommandLine(entry);
    if (!args.includes(command) || !args.includes(configFile)) continue;
    found.push({ pid: Number(entry), index: Number(args[args.indexOf("--index") + 1] ?? 0) });
  }
  return found.sort((one, other) => one.index - other.index).map(({ pid }) => pid);
}

/** The pid of a worker; throws when it does not run. */
export function findWorkerPid(configFile: string, index: number): number {
  const pid = listProcesses(configFile, "worker")[index];
  if (pid === undefined) throw new Error(`worker ${index} does not run`);
  return pid;
}

/** Resolves when there are so many workers, none of them with this pid. */
export async function waitForNewWorker(configFile: string, former: number, count: number): Promise<void> {
  await waitFor("the worker to be replaced", () => {
    const pids = listProcesses(configFile, "worker");
    return pids.length === count && !pids.includes(former);
  });
}

/** Empty for a process that is gone, or a zombie. */
function readCommandLine(pid: string): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  } catch (error) {
    if (["ENOENT", "ESRCH"].includes(String((error as NodeJS.ErrnoException).code))) return [];
    throw error;
  }
}
