/** One workload: rounds that alternate between plain Envoy and the gateway, so that both meet the same machine. */
import type { BenchStack } from "./bench-stack.ts";
import type { LoadGenerator, LoadResult } from "./load.ts";
import {
  PROCESS_KINDS,
  type ProcessKind,
  readCpuMs,
  readEndedChildrenCpuMs,
  readMachineTicks,
} from "./processes.ts";
import { CHAT_PATH, type Workload } from "./workloads.ts";

export interface MeasureOptions {
  readonly rounds: number;
  readonly seconds: number;
  /** Of the sides with a sidecar on Node; the compiled ones have only connections to open. */
  readonly warmUpSeconds: number;
  readonly connections: number;
}

/**
 * `mock`: the load generator straight at the model server, the ceiling over all of them. `noop`: the gateway's Envoy with a
 * sidecar that decides nothing. `aiGateway`: Envoy AI Gateway.
 */
const SIDES = ["mock", "plain", "noop", "aiGateway", "gateway"] as const;
export type Side = (typeof SIDES)[number];

export interface RoundResult extends LoadResult {
  /** CPU time per request by process, in milliseconds. */
  readonly cpuMsPerRequest: Readonly<Record<ProcessKind, number>>;
  /** The part of the processors that this machine's host gave to others meanwhile, from 0 to 1. */
  readonly stolen: number;
}

/** The rounds of each side; none where it was not asked for, or does not know the workload. */
export interface WorkloadResult extends Readonly<Record<Side, readonly RoundResult[]>> {
  readonly workload: string;
  readonly connections: number;
}

/**
 * Less leaves a sidecar with code that is not yet optimized. The compiler takes four seconds of CPU time in all; after 12 s
 * of `stream` at 1,000 requests per second it was still a third of what the gateway's took.
 */
export const SIDECAR_WARM_UP_SECONDS = 22;
const COMPILED_WARM_UP_SECONDS = 2;

/** Fills caches and, for the workload of refusals, empties the bucket; then measures. */
export async function measureWorkload(
  bench: BenchStack,
  generator: LoadGenerator,
  workload: Workload,
  options: MeasureOptions,
): Promise<WorkloadResult> {
  const connections = workload.connections ?? options.connections;
  const rounds: Record<Side, RoundResult[]> = { mock: [], plain: [], noop: [], aiGateway: [], gateway: [] };
  const sides = SIDES.filter((side) => takesPart(bench, side, workload));
  const run = async (side: Side, seconds: number): Promise<RoundResult> =>
    await runOnce(bench, generator, workload, side, { connections, seconds });
  // Sidecars first: a mock that runs on Node is warm after them.
  for (const side of sides.toReversed()) await run(side, warmUpSecondsOf(side, options));
  for (let round = 0; round < options.rounds; round += 1) {
    // Whoever runs second meets a warmer machine: they take turns.
    const order = round % 2 === 0 ? sides : sides.toReversed();
    for (const side of order) rounds[side].push(await run(side, options.seconds));
  }
  return { workload: workload.name, connections, ...rounds };
}

function takesPart({ baseUrls }: BenchStack, side: Side, { path, status }: Workload): boolean {
  // One OpenAI backend, and nothing to refuse anybody for.
  if (side === "aiGateway" && (path !== CHAT_PATH || status !== 200)) return false;
  return baseUrls[side] !== null;
}

function warmUpSecondsOf(side: Side, { warmUpSeconds }: MeasureOptions): number {
  const isCompiled = side !== "noop" && side !== "gateway";
  return isCompiled ? Math.min(warmUpSeconds, COMPILED_WARM_UP_SECONDS) : warmUpSeconds;
}

async function runOnce(
  bench: BenchStack,
  generator: LoadGenerator,
  workload: Workload,
  side: Side,
  options: Pick<MeasureOptions, "seconds" | "connections">,
): Promise<RoundResult> {
  const before = readCpu(bench, side);
  const ticksBefore = readMachineTicks();
  const key = bench[workload.key ?? "key"];
  const result = await generator.run({
    url: `${bench.baseUrls[side]}${workload.path}`,
    body: workload.body,
    headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
    connections: options.connections,
    seconds: options.seconds,
    expectedStatus: side === "gateway" ? workload.status : 200,
  });
  bench.requireRunning(side);
  const ticks = readMachineTicks();
  const stolen = (ticks.stolen - ticksBefore.stolen) / Math.max(1, ticks.all - ticksBefore.all);
  const after = readCpu(bench, side);
  const cpuMsPerRequest = mapKinds((kind) => (after[kind] - before[kind]) / Math.max(1, result.requests));
  return { ...result, cpuMsPerRequest, stolen };
}

function readCpu(bench: BenchStack, side: Side): Record<ProcessKind, number> {
  return mapKinds((kind) =>
    kind === "generator" ? readEndedChildrenCpuMs() : readCpuMs(bench.processes(side, kind)),
  );
}

function mapKinds(read: (kind: ProcessKind) => number): Record<ProcessKind, number> {
  return Object.fromEntries(PROCESS_KINDS.map((kind) => [kind, read(kind)])) as Record<ProcessKind, number>;
}

/** The middle value, or the mean of the two in the middle; 0 of nothing. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
}
