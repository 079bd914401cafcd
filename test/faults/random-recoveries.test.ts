/**
 * Recoveries from random states: what lies in spools and journals, copies of Redis that were made at random moments, disks
 * that fill and empty, a clock of Redis that is off by milliseconds to days. The long form (`FAULTS=long`) has three seeds
 * of 10,000 requests with one worker and with two on both transports; FAULTS_SEEDS, FAULTS_REQUESTS, FAULTS_WORKERS and
 * FAULTS_TRANSPORTS take a part of it.
 */
import { describe, expect, it } from "vitest";
import { byExtent } from "../support/extent.ts";
import { TRANSPORTS } from "../support/gateway-config.ts";
import { canSetRedisClock } from "../support/redis.ts";
import { IS_LONG } from "./fault-scenario.ts";
import { startFaultStack } from "./fault-stack.ts";
import {
  accountFor,
  listEnded,
  type Outage,
  OUTAGES,
  type Recovered,
  type RecoveringHost,
  type RecoveryAccount,
  recoverOnce,
  waitForAll,
} from "./recovery-run.ts";
import { checkSettled, restartStack } from "./restart.ts";
import { createDraw, readSeeds } from "./seeded-draw.ts";

const SECOND = 1_000;
const DAY = 86_400 * SECOND;
/** By which Redis's clock is ahead of the host's. */
const CLOCKS = [-3 * DAY, -7_200 * SECOND, -SECOND, -7, 0, 7, SECOND, 7_200 * SECOND, 3 * DAY];
/** On each push recovery.test.ts has the others. */
const SHORT: readonly Outage[] = byExtent({
  push: ["disk full"],
  nightly: ["older snapshot", "quiet spool", "disk full"],
});
/** In a run of the long form each kind comes twice. */
const ROUNDS = 2;
/** Of each key. */
const CLIENTS = IS_LONG ? 12 : 6;

const list = (name: string, otherwise: readonly (string | number)[]): readonly string[] =>
  process.env[name]?.split(",") ?? otherwise.map(String);
const seeds = readSeeds();
const requests = Number(process.env["FAULTS_REQUESTS"] ?? (IS_LONG ? 10_000 : 130 * SHORT.length));
const workerCounts = list("FAULTS_WORKERS", IS_LONG ? [1, 2] : [2]).map(Number);
const transports = list("FAULTS_TRANSPORTS", IS_LONG ? TRANSPORTS : [TRANSPORTS[0]]);
const runs = transports.flatMap((transport) =>
  workerCounts.flatMap((workers) => seeds.map((seed) => ({ seed, workers, transport }))),
);
const LONG_RUN_MS = 3_600_000;

interface Run {
  readonly seed: number;
  readonly workers: number;
  readonly transport: string;
}

/** Prints the figures; resolves with what is out of bounds. */
async function runRecoveries({ seed, workers, transport }: Run): Promise<readonly string[]> {
  const draw = createDraw(seed * 1_000 + workers * 10 + transport.length);
  const clockAheadMs = canSetRedisClock() ? draw.oneOf(CLOCKS) : 0;
  const sidecar = { workers, transport };
  const faults = await startFaultStack({ sidecar }, { clockAheadMs });
  const host: RecoveringHost = { faults, draw, clients: CLIENTS, isLogShort: false };
  const title = `recovery, seed ${seed}, ${workers} workers, ${transport}, Redis's clock ${clockAheadMs} ms ahead`;
  try {
    const outages = IS_LONG ? Array.from({ length: ROUNDS }, () => draw.shuffled(OUTAGES)).flat() : SHORT;
    const problems = await recoverAll(host, title, outages);
    problems.push(...(await checkSettled(faults, host)));
    if (!IS_LONG) return problems;
    return [...problems, ...(await restartStack(faults, host))];
  } finally {
    await faults.stop();
  }
}

/**
 * One outage after the other, each beside what the ones before have left in flight: an outage has its account as soon as
 * nothing of it is.
 */
async function recoverAll(
  host: RecoveringHost,
  title: string,
  outages: readonly Outage[],
): Promise<string[]> {
  const problems: string[] = [];
  let open: readonly Recovered[] = [];
  const accountForEnded = async (): Promise<void> => {
    const ended = await listEnded(host, open);
    open = open.filter((each) => !ended.includes(each));
    for (const each of ended) {
      const found = await accountFor(host, each);
      printRecovery(title, each, found);
      problems.push(...found.problems.map((problem) => `${each.outage}: ${problem}`));
    }
  };
  for (const outage of outages) {
    open = [...open, await recoverOnce(host, outage, requests / outages.length)];
    await accountForEnded();
  }
  await waitForAll(host, open);
  await accountForEnded();
  return problems;
}

function printRecovery(
  title: string,
  { outage, addedMicrocents, loadMs, durationMs }: Recovered,
  { figures }: RecoveryAccount,
): void {
  const sum = (of: (each: RecoveryAccount["figures"][number]) => bigint): bigint =>
    figures.reduce((total, each) => total + of(each), 0n);
  const parts = [
    `${title} | ${outage}`,
    `requests ${sum((each) => BigInt(each.requests))}`,
    `whole ${sum((each) => BigInt(each.whole))}`,
    `used ${sum((each) => each.usedMicrocents)}`,
    `charged ${sum((each) => each.chargedMicrocents)}`,
    `difference ${sum((each) => each.chargedMicrocents - each.usedMicrocents)}`,
    `bound -${sum((each) => each.lostBoundMicrocents)}..+${sum((each) => each.excessBoundMicrocents)}`,
    `added by rebuild ${addedMicrocents}`,
    `seconds ${Math.round(loadMs / SECOND)} of ${Math.round(durationMs / SECOND)}`,
  ];
  process.stdout.write(`${parts.join(" | ")}\n`);
}

describe("charged and used agree after verify, rebuild and start", () => {
  it.each(runs)(
    "in random states of spool, journal, disk and snapshots: seed $seed, workers $workers, $transport",
    async (run) => {
      expect(await runRecoveries(run)).toEqual([]);
    },
    LONG_RUN_MS,
  );
});
