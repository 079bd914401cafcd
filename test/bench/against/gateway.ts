/** A gateway of one build, driven by what every build has: `up`, the management API, a plain `gateway.yaml`. */
import { join } from "node:path";
import { Redis } from "ioredis";
import { catalogEntry } from "../../support/gateway-config.ts";
import { type Stack, startStack } from "../../support/stack.ts";
import { waitFor } from "../../support/wait.ts";
import { findProcesses, type Process, type ProcessKind, readCpuMs } from "../processes.ts";
import { BENCH_MODEL, CHAT_PATH, chatBody } from "../workloads.ts";

const UPSTREAM = "mock";
/** Caps and budgets that every request is checked against and never reaches. */
const FAR_CAPS = { hard_cap_cents: 9_000_000_000, budget_cents: 9_000_000_000 };
const REQUESTS_PER_MINUTE = 1_000_000;
/** A worker that has started is quiet when it takes less than a tenth of a core. */
const QUIET_MS = 250;
const SCRIPT_COMMANDS = ["eval", "evalsha", "eval_ro", "evalsha_ro", "fcall", "fcall_ro"];

export const GATEWAY_KINDS = ["sidecar", "envoy", "redis", "supervisor"] as const satisfies ProcessKind[];
export type GatewayKind = (typeof GATEWAY_KINDS)[number];

/** Totals since the start. */
export interface Counters {
  readonly cpuMs: Readonly<Record<GatewayKind, number>>;
  readonly scriptCalls: number;
  /** With those inside scripts. */
  readonly redisCommands: number;
}

export interface Gateway {
  readonly baseUrl: string;
  readonly key: string;
  /** @throws Error when a process has ended since the start. */
  readCounters(): Promise<Counters>;
  stop(): Promise<void>;
}

/**
 * Starts one that has answered a single request, and waits until it is quiet.
 * @param program its `dist/main.js`
 * @throws Error with what it wrote when it does not start, or does not take configuration or settings
 */
export async function startGateway(program: string, mockPort: number, workers: number): Promise<Gateway> {
  const stack = await startStack({
    program,
    workers,
    upstreams: [{ name: UPSTREAM, url: `http://127.0.0.1:${mockPort}`, path_prefix: "/v1" }],
    catalog: [catalogEntry({ id: BENCH_MODEL, upstream: UPSTREAM, upstream_model: "mock" })],
  }).catch((cause: unknown) => {
    throw new Error(`Cannot start ${program}: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  });
  const redis = new Redis(join(stack.dir, "run/redis.sock"), { protocol: 2, lazyConnect: true });
  const stop = async (): Promise<void> => {
    redis.disconnect();
    await stack.stop();
  };
  try {
    await redis.connect();
    const key = await createKey(stack);
    await waitForAnswer(stack, key);
    const processes = findProcesses(stack.child.pid);
    await waitUntilQuiet(processes);
    return { baseUrl: stack.baseUrl, key, readCounters: () => readCounters(stack, processes, redis), stop };
  } catch (thrown) {
    await stop();
    throw thrown;
  }
}

async function createKey(stack: Stack): Promise<string> {
  const organization = await stack.admin("POST", "/api/organizations", {
    name: "Bench",
    currency: "USD",
    ...FAR_CAPS,
  });
  const created = await stack.admin("POST", `/api/organizations/${String(organization["id"])}/keys`, {
    name: "bench",
    requests_per_minute: REQUESTS_PER_MINUTE,
    ...FAR_CAPS,
  });
  return String(created["key"]);
}

/** One request, so that a build that cannot serve the benchmark is named before anything is measured. */
async function waitForAnswer(stack: Stack, key: string): Promise<void> {
  await waitFor("the answer to a first request", async () => {
    const body = JSON.parse(chatBody(1_024)) as object;
    const { status, text } = await stack.send({ method: "POST", path: CHAT_PATH, key, body });
    if (status !== 200) throw new Error(`${status} ${text}`);
    return true;
  });
}

async function waitUntilQuiet(processes: readonly Process[]): Promise<void> {
  let before = -QUIET_MS;
  const isQuiet = (): boolean => {
    const used = readCpuMs(processes) - before;
    before += used;
    return used < QUIET_MS / 10;
  };
  await waitFor("a gateway that has started to be quiet", isQuiet, { intervalMs: QUIET_MS });
}

async function readCounters(stack: Stack, started: readonly Process[], redis: Redis): Promise<Counters> {
  const running = new Set(findProcesses(stack.child.pid).map(({ pid }) => pid));
  const gone = started.find(({ pid, kind }) => kind !== "supervisor" && !running.has(pid));
  if (gone !== undefined) {
    throw new Error(`The process "${gone.kind}" of a gateway ended.\n${stack.stderr}\n${stack.readLogs()}`);
  }
  const calls = parseCommandCalls(await redis.info("commandstats"));
  const cpuMs = Object.fromEntries(
    GATEWAY_KINDS.map((kind) => [kind, readCpuMs(started.filter((process) => process.kind === kind))]),
  ) as Record<GatewayKind, number>;
  return { cpuMs, ...calls };
}

/** @param stats What Redis answers to `INFO commandstats`; that command itself is left out. */
export function parseCommandCalls(stats: string): Pick<Counters, "scriptCalls" | "redisCommands"> {
  let [scriptCalls, redisCommands] = [0, 0];
  for (const [, command = "", calls] of stats.matchAll(/^cmdstat_([^:|]+)[^:]*:calls=(\d+)/gmu)) {
    if (command === "info") continue;
    redisCommands += Number(calls);
    if (SCRIPT_COMMANDS.includes(command)) scriptCalls += Number(calls);
  }
  return { scriptCalls, redisCommands };
}
