/**
 * Rounds of two gateways. Each round starts both anew, since two processes of the same code differ by some percent for as long
 * as they live, and then lets them take turns (A B, B A, …), so that whatever else the machine does meets both.
 */
import { setTimeout as wait } from "node:timers/promises";
import type { LoadGenerator } from "../load.ts";
import { WORKLOADS, type Workload } from "../workloads.ts";
import { type Counters, type Gateway, GATEWAY_KINDS, type GatewayKind, startGateway } from "./gateway.ts";

export const IDLE = "idle";

/** Rows that can be measured: what both builds answer with 200 for a usual key. */
export const ROWS: readonly string[] = [
  ...WORKLOADS.filter(({ status, key }) => status === 200 && key === undefined).map(({ name }) => name),
  IDLE,
];

export interface Amount {
  /** Workers of each gateway. */
  readonly workers: number;
  readonly connections: number;
  /** Requests of a fresh worker that are measured as cold. */
  readonly coldRequests: number;
  readonly warmUpSeconds: number;
  readonly turns: number;
  readonly turnSeconds: number;
  readonly idleSeconds: number;
  readonly idlePerSecond: number;
}

/** The first is this tree's, the second that of the other commit. */
export type Pair<T> = readonly [T, T];

/** All but the first two per request. */
export interface Turn {
  readonly requests: number;
  readonly failures: number;
  readonly cpuMs: Readonly<Record<GatewayKind, number>>;
  readonly scriptCalls: number;
  readonly redisCommands: number;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
}

/** The turns of one round by the name of the row: `1k cold`, `1k warm`, `1k alone` (at one connection), `idle`. */
export type Round = Readonly<Record<string, readonly Pair<Turn>[]>>;

export interface Contest {
  readonly programs: Pair<string>;
  readonly mockPort: number;
  readonly load: LoadGenerator;
  readonly amount: Amount;
}

/** @param index Of the round, from 0: the gateways swap places in each. */
export async function measureRound(contest: Contest, row: string, index: number): Promise<Round> {
  const { programs, mockPort } = contest;
  const { workers } = contest.amount;
  const first = await startGateway(programs[0], mockPort, workers);
  try {
    const second = await startGateway(programs[1], mockPort, workers);
    try {
      const gateways = [first, second] as const;
      return row === IDLE
        ? await measureIdle(contest, gateways)
        : await measureLoad(contest, gateways, row, index);
    } finally {
      await second.stop();
    }
  } finally {
    await first.stop();
  }
}

async function measureLoad(
  { load, amount }: Contest,
  gateways: Pair<Gateway>,
  row: string,
  index: number,
): Promise<Round> {
  const workload = findWorkload(row);
  const run = (limits: Limits, turn: number): Promise<Pair<Turn>> =>
    takeTurns(turn, gateways, (gateway) => runTurn(load, gateway, workload, limits));
  const { coldRequests, turnSeconds, warmUpSeconds } = amount;
  const connections = workload.connections ?? amount.connections;
  const cold = await run({ connections, requests: coldRequests, seconds: 120 }, index);
  await run({ connections, seconds: warmUpSeconds }, index + 1);
  const measure = async (limits: Limits): Promise<Pair<Turn>[]> => {
    const turns: Pair<Turn>[] = [];
    while (turns.length < amount.turns) turns.push(await run(limits, index + turns.length));
    return turns;
  };
  return {
    [`${row} cold`]: [cold],
    [`${row} warm`]: await measure({ connections, seconds: turnSeconds }),
    // No call to Redis is shared with another request.
    [`${row} alone`]: await measure({ connections: 1, seconds: turnSeconds / 2 }),
  };
}

/** Both at a time, each in the other's pauses: neither keeps the machine busy. */
async function measureIdle({ load, amount }: Contest, gateways: Pair<Gateway>): Promise<Round> {
  const workload = findWorkload("1k");
  const pauseMs = 1000 / amount.idlePerSecond;
  const limits = { connections: 1, seconds: amount.idleSeconds, pauseMs };
  const [first, second] = await Promise.all([
    runTurn(load, gateways[0], workload, limits),
    wait(pauseMs / 2).then(() => runTurn(load, gateways[1], workload, limits)),
  ]);
  return { [IDLE]: [[first, second]] };
}

interface Limits {
  readonly connections: number;
  readonly seconds: number;
  readonly requests?: number;
  readonly pauseMs?: number;
}

/** The second goes first in odd turns. */
export async function takeTurns<A, B>(
  turn: number,
  [first, second]: Pair<A>,
  run: (one: A) => Promise<B>,
): Promise<Pair<B>> {
  if (turn % 2 === 0) return [await run(first), await run(second)];
  const ofSecond = await run(second);
  return [await run(first), ofSecond];
}

async function runTurn(
  load: LoadGenerator,
  gateway: Gateway,
  { path, body }: Workload,
  limits: Limits,
): Promise<Turn> {
  const before = await gateway.readCounters();
  const result = await load.run({
    url: `${gateway.baseUrl}${path}`,
    body,
    headers: { "content-type": "application/json", authorization: `Bearer ${gateway.key}` },
    expectedStatus: 200,
    ...limits,
  });
  const after = await gateway.readCounters();
  const perRequest = (read: (counters: Counters) => number): number =>
    (read(after) - read(before)) / Math.max(1, result.requests);
  const { requests, failures, requestsPerSecond, p50Ms } = result;
  return {
    requests,
    failures,
    requestsPerSecond,
    p50Ms,
    cpuMs: Object.fromEntries(
      GATEWAY_KINDS.map((kind) => [kind, perRequest(({ cpuMs }) => cpuMs[kind])]),
    ) as Turn["cpuMs"],
    scriptCalls: perRequest(({ scriptCalls }) => scriptCalls),
    redisCommands: perRequest(({ redisCommands }) => redisCommands),
  };
}

function findWorkload(row: string): Workload {
  const workload = WORKLOADS.find(({ name }) => name === row);
  if (workload === undefined) throw new Error(`There is no row "${row}": expected ${ROWS.join(", ")}.`);
  return workload;
}
