/** The worker processes of a stack, as the operating system and Envoy see them. */
import { readdirSync, readFileSync } from "node:fs";
import { request } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { WORKER_CLUSTERS } from "../../../src/envoy/names.ts";
import { waitFor } from "../../support/wait.ts";

export interface WorkerProcess {
  readonly index: number;
  readonly pid: number;
}

/** Workers that were started with this configuration and run now, in the order of their index. */
export function listWorkers(configFile: string): WorkerProcess[] {
  const workers: WorkerProcess[] = [];
  for (const entry of readdirSync("/proc")) {
    if (!/^\d+$/u.test(entry)) continue;
    const args = readCommandLine(entry);
    if (!args.includes("worker") || !args.includes(configFile)) continue;
    workers.push({ index: Number(args[args.indexOf("--index") + 1]), pid: Number(entry) });
  }
  return workers.toSorted((one, other) => one.index - other.index);
}

/** The pid of the worker with this index; throws when there is none. */
export function findWorker(configFile: string, index: number): number {
  const worker = listWorkers(configFile).find((one) => one.index === index);
  if (worker === undefined) throw new Error(`there is no worker ${index}`);
  return worker.pid;
}

/** Empty for a process that is gone, or a zombie. */
function readCommandLine(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  } catch (error) {
    if (["ENOENT", "ESRCH"].includes(String((error as NodeJS.ErrnoException).code))) return [];
    throw error;
  }
}

/** What Envoy's admin interface answers under this path. */
export function readEnvoyAdmin(socketsDir: string, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const call = request(
      { socketPath: join(socketsDir, "envoy-admin.sock"), path, timeout: 5_000 },
      (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (part: string) => (text += part));
        response.on("end", () => resolve(text));
      },
    );
    call.on("timeout", () => call.destroy(new Error(`Envoy's admin interface does not answer ${path}`)));
    call.on("error", reject);
    call.end();
  });
}

const ENDPOINT_LINE = new RegExp(
  `^(?:${WORKER_CLUSTERS.join("|")})::.*gateway-(?<index>\\d+)\\.sock::(?<field>\\w+)::(?<value>.*)$`,
  "u",
);

export interface WorkerEndpoint {
  /** gRPC calls that Envoy has sent to this worker since Envoy's start. */
  readonly calls: number;
  /** Of those, under way now. */
  readonly active: number;
  readonly connections: number;
  readonly isHealthy: boolean;
}

/** Envoy's view of each worker, by index, over both clusters. */
export async function readEndpoints(socketsDir: string): Promise<WorkerEndpoint[]> {
  const text = await readEnvoyAdmin(socketsDir, "/clusters");
  const byIndex = new Map<number, Record<string, string[]>>();
  for (const line of text.split("\n")) {
    const match = ENDPOINT_LINE.exec(line);
    if (match?.groups === undefined) continue;
    const { index = "", field = "", value = "" } = match.groups;
    const fields = byIndex.get(Number(index)) ?? {};
    (fields[field] ??= []).push(value);
    byIndex.set(Number(index), fields);
  }
  return [...byIndex.entries()]
    .toSorted(([one], [other]) => one - other)
    .map(([, fields]) => {
      const sum = (field: string) => (fields[field] ?? []).reduce((total, count) => total + Number(count), 0);
      return {
        calls: sum("rq_total"),
        active: sum("rq_active"),
        connections: sum("cx_active"),
        isHealthy: (fields["health_flags"] ?? []).every((flags) => flags === "healthy"),
      };
    });
}

/** Resolves when Envoy sends requests to so many workers. */
export async function waitForHealthyWorkers(
  socketsDir: string,
  count: number,
  timeoutMs = 30_000,
): Promise<void> {
  await waitFor(
    `${count} workers that Envoy takes for healthy`,
    async () => (await readEndpoints(socketsDir)).filter((endpoint) => endpoint.isHealthy).length === count,
    { timeoutMs, intervalMs: 50 },
  );
}

/** Kills every worker and resolves when Envoy sends requests to as many new ones. */
export async function killAllWorkers(configFile: string, socketsDir: string): Promise<void> {
  const before = listWorkers(configFile);
  for (const { pid } of before) process.kill(pid, "SIGKILL");
  await waitForNewWorkers(configFile, socketsDir, before);
}

/** Resolves when each of these processes has a successor and Envoy takes every worker for healthy. */
export async function waitForNewWorkers(
  configFile: string,
  socketsDir: string,
  before: readonly WorkerProcess[],
): Promise<void> {
  const sockets = before.map(({ index }) => join(socketsDir, `gateway-${index}.sock`));
  await waitFor(
    "new workers that listen",
    async () => {
      const now = listWorkers(configFile);
      const isReplaced = (old: WorkerProcess) =>
        now.some(({ index, pid }) => index === old.index && pid !== old.pid);
      // A process that is ending may have lost its command line and still have its socket.
      if (!before.every(isReplaced)) return false;
      return (await Promise.all(sockets.map(isListening))).every((listens) => listens);
    },
    { timeoutMs: 30_000, intervalMs: 50 },
  );
  await waitForHealthyWorkers(socketsDir, (await readEndpoints(socketsDir)).length);
}

function isListening(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ path });
    const settle = (listens: boolean): void => {
      socket.destroy();
      resolve(listens);
    };
    socket.once("connect", () => settle(true));
    socket.once("error", () => settle(false));
  });
}

/**
 * Resolves when each worker serves. One without a reply of Redis for 5 s closes its connection, and refuses callers until
 * it has another.
 */
export async function waitUntilServed(
  workers: number,
  send: () => Promise<{ readonly status: number }>,
): Promise<void> {
  await waitFor("each worker to serve", async () => {
    const answers = await Promise.all(Array.from({ length: 4 * workers }, send));
    return answers.every(({ status }) => status === 200);
  });
}
