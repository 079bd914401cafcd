/**
 * Random recoveries of one host: load, one fault or several, the end of the gateway, then what an operator does, `usage
 * verify`, `usage rebuild`, start, as often as requests are in flight; and the account. Which faults come, and when, is
 * drawn by a seed.
 */
import { execFileSync } from "node:child_process";
import { listProcesses } from "../support/gateway-processes.ts";
import type { CreatedKey } from "../support/test-key.ts";
import { waitFor } from "../support/wait.ts";
import {
  checkFigures,
  checkTagRows,
  type Faults,
  type Figures,
  readFigures,
  type Tenant,
} from "./fault-accounts.ts";
import { ROUTES, type Sent, type SendOptions, startClients } from "./fault-load.ts";
import { type FaultStack, MODEL, REAPED_WITHIN_MS, startStackAgain, terminateStack } from "./fault-stack.ts";
import type { Tenants } from "./fault-tenants.ts";
import { checkWindows } from "./fault-windows.ts";
import { lendMachine } from "./machine.ts";
import type { Draw } from "./seeded-draw.ts";
import { rebuildOnHost, verifyOnHost } from "./usage-commands.ts";

export const OUTAGES = ["spool", "quiet spool", "older snapshot", "disk full", "killed"] as const;
/**
 * "spool": Redis is killed, the gateway ends with charges in its spool, Redis is back as it was. "quiet spool": nothing is
 * in flight at that moment, so that the first rebuild already has all that the spool has. "older snapshot": as the first,
 * or without an outage, and Redis is restored from a copy that was made under load. "disk full": the workers' disk takes
 * nothing more for a while, with Redis there or away. "killed": all processes of the gateway die, with Redis there or away.
 */
export type Outage = (typeof OUTAGES)[number];

export interface RecoveringHost {
  readonly faults: FaultStack;
  readonly draw: Draw;
  /** Of each key. */
  readonly clients: number;
  /** A worker has died before it had written its last lines. */
  isLogShort: boolean;
}

/** One outage and what an operator did about it. What its dead workers left may still be in flight. */
export interface Recovered {
  readonly outage: Outage;
  readonly tenants: readonly Tenant[];
  readonly faults: Faults;
  /** By both rebuilds: of organizations of earlier outages, too. */
  readonly addedMicrocents: bigint;
  /** In which requests were sent, with the outage; and until the gateway was up again. */
  readonly loadMs: number;
  readonly durationMs: number;
}

export interface RecoveryAccount {
  readonly figures: readonly Figures[];
  readonly problems: readonly string[];
}

const NAMES = ["open", "capped", "strict"] as const;
/** Never reached. */
const CAP_CENTS = 100_000_000;
const TAGS = [undefined, "team=search", "team=ads, feature=chat"] as const;

/** One recovery with about so many requests. Changes what the host is known by. */
export async function recoverOnce(
  host: RecoveringHost,
  outage: Outage,
  requests: number,
): Promise<Recovered> {
  const { faults } = host;
  const startMs = performance.now();
  const keys = await faults.createTenants(CAP_CENTS);
  const sent: Record<keyof Tenants, Sent[]> = { open: [], capped: [], strict: [] };
  const load = createLoad(host, keys, { requests, sent });
  let happened: Faults;
  try {
    happened = await loadAndBreak(host, outage, load);
  } finally {
    await load.stop();
  }
  const loadMs = performance.now() - startMs;
  if (outage === "older snapshot") await faults.redis.restoreSnapshot();
  await faults.redis.restart();
  await verifyOnHost(faults);
  const first = await rebuildOnHost(faults);
  await startStackAgain(faults);
  const whileReplayed = await rebuildOnHost(faults);
  return {
    outage,
    tenants: NAMES.map((name) => ({ name, key: keys[name], sent: sent[name] })),
    faults: happened,
    addedMicrocents: first.addedMicrocents + whileReplayed.addedMicrocents,
    loadMs,
    durationMs: performance.now() - startMs,
  };
}

/** The account of an outage of which nothing is in flight any more: what it came to stays so from here on. */
export async function accountFor(
  { faults }: RecoveringHost,
  { tenants, faults: happened }: Recovered,
): Promise<RecoveryAccount> {
  const figures: Figures[] = [];
  const problems: string[] = [];
  for (const tenant of tenants) {
    const read = await readFigures(faults, tenant, happened);
    figures.push(read);
    problems.push(...checkFigures(read), ...(await checkTagRows(faults, tenant, read, happened)));
    const { organizationId } = tenant.key;
    faults.settled.push({ organizationId, microcents: read.chargedMicrocents });
  }
  problems.push(...(await checkWindows(faults, tenants)));
  return { figures, problems };
}

/** Those of which nothing is in flight any more. A rebuild behind that has put in all that the request log knows. */
export async function listEnded(
  { faults }: RecoveringHost,
  open: readonly Recovered[],
): Promise<readonly Recovered[]> {
  await faults.waitUntilSettled([], REAPED_WITHIN_MS);
  const left = await Promise.all(open.map((each) => faults.hasLeft(keysOf(each))));
  const ended = open.filter((_, index) => left[index]);
  if (ended.length > 0) await rebuildOnHost(faults);
  return ended;
}

/** Resolves when nothing of any of them is in flight. */
export async function waitForAll({ faults }: RecoveringHost, open: readonly Recovered[]): Promise<void> {
  await lendMachine(() => faults.waitUntilLeft(open.flatMap(keysOf)));
}

function keysOf({ tenants }: Recovered): CreatedKey[] {
  return tenants.map(({ key }) => key);
}

interface Load {
  start(): void;
  /** Resolves when what is under way has ended. */
  stop(): Promise<void>;
  /** Resolves when more requests were answered whole: so large a part of all, with keys that have no strict caps. */
  answered(share: number): Promise<void>;
  /** Resolves when all have been sent. */
  sentAll(): Promise<void>;
  /** Resolves when nothing has been in flight for a moment. */
  settled(): Promise<void>;
}

interface LoadOptions {
  readonly requests: number;
  readonly sent: Readonly<Record<keyof Tenants, Sent[]>>;
}

function createLoad(host: RecoveringHost, tenants: Tenants, { requests, sent }: LoadOptions): Load {
  let clients: readonly { stop(): Promise<void> }[] = [];
  const timeout = { timeoutMs: 400_000 };
  const countWhole = () => [...sent.open, ...sent.capped].filter(({ isWhole }) => isWhole).length;
  return {
    start() {
      clients = NAMES.map((tenant) =>
        startClients(
          host.clients,
          () => createOptions(host, tenants[tenant].key),
          (each) => sent[tenant].push(each),
        ),
      );
    },
    async stop() {
      await Promise.all(clients.map((each) => each.stop()));
    },
    async answered(share) {
      const until = countWhole() + Math.ceil(share * requests * (2 / 3));
      await waitFor("answers", () => countWhole() >= until, timeout);
    },
    async sentAll() {
      const count = () => NAMES.reduce((sum, name) => sum + sent[name].length, 0);
      await waitFor("all requests", () => count() >= requests, timeout);
    },
    settled: () => host.faults.waitUntilSettled(Object.values(tenants), REAPED_WITHIN_MS),
  };
}

/** Resolves when gateway and Redis have ended. */
async function loadAndBreak(host: RecoveringHost, outage: Outage, load: Load): Promise<Faults> {
  const { faults, draw } = host;
  const withoutRedis = outage === "spool" || outage === "quiet spool" || draw.coin();
  let redisDiedMs: number | undefined;
  load.start();
  await load.answered(0.1 + 0.4 * draw.fraction());
  if (outage === "older snapshot") await faults.redis.snapshot();
  await load.answered(0.2);
  if (outage === "quiet spool") {
    await load.stop();
    await load.settled();
  }
  if (withoutRedis) {
    redisDiedMs = performance.now();
    await faults.redis.kill();
  }
  if (outage === "quiet spool") load.start();
  if (outage === "disk full") await fillDisk(host, () => load.answered(0.15));
  await load.answered(0.2);
  await load.sentAll();
  const happened: Faults =
    outage !== "killed"
      ? {}
      : { workerDiedMs: await killGateway(host), ...(redisDiedMs !== undefined && { redisDiedMs }) };
  await load.stop();
  if (outage !== "killed") await terminateStack(faults);
  if (!withoutRedis) await faults.redis.kill();
  return happened;
}

function createOptions({ faults, draw }: RecoveringHost, key: string): SendOptions {
  const tags = draw.oneOf(TAGS);
  return {
    baseUrl: faults.stack.baseUrl,
    key,
    model: MODEL,
    route: draw.oneOf(ROUTES),
    outputTokens: 1 + draw.below(30),
    tokenMs: draw.below(4),
    isStream: draw.coin(),
    ...(tags !== undefined && { tags }),
  };
}

/**
 * The workers' files may have so many bytes and no more for a while: writes are cut short, then refused, those of their log
 * too. None of them ends by it.
 */
async function fillDisk({ faults, draw }: RecoveringHost, meanwhile: () => Promise<void>): Promise<void> {
  const { configFile } = faults.stack;
  const pids = listProcesses(configFile, "worker");
  const limit = (pid: number, bytes: number | "unlimited"): void => {
    execFileSync("prlimit", ["--pid", String(pid), `--fsize=${bytes}:unlimited`]);
  };
  const bytes = draw.below(200_000);
  for (const pid of pids) limit(pid, bytes);
  try {
    await meanwhile();
  } finally {
    const alive = listProcesses(configFile, "worker");
    for (const pid of pids) if (alive.includes(pid)) limit(pid, "unlimited");
  }
  const ended = pids.filter((pid) => !listProcesses(configFile, "worker").includes(pid));
  if (ended.length > 0) throw new Error(`${ended.length} workers ended while their disk was full`);
}

/** Resolves with when they died. */
async function killGateway(host: RecoveringHost): Promise<number> {
  const { configFile } = host.faults.stack;
  const processes = [...listProcesses(configFile, "serve"), ...listProcesses(configFile, "worker")];
  const diedMs = performance.now();
  for (const pid of processes) process.kill(pid, "SIGKILL");
  host.isLogShort = true;
  await host.faults.child.waitForEnd(60_000);
  return diedMs;
}
