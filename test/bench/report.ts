/** The figures of a run, as they are kept in JSON. */
import { cpus, totalmem } from "node:os";
import type { HeldStreamsResult } from "./held-streams.ts";
import { median, type RoundResult, type WorkloadResult } from "./measure.ts";
import { PROCESS_KINDS, type ProcessKind } from "./processes.ts";
import { WORKLOADS } from "./workloads.ts";

export interface Report {
  /** "2026-11-22" */
  readonly date: string;
  readonly machine: {
    readonly cpu: string;
    readonly cores: number;
    readonly memoryGigabytes: number;
    readonly node: string;
    readonly envoy: string;
    readonly redis: string;
  };
  readonly options: Readonly<Record<string, string | number>>;
  readonly rows: readonly ReportRow[];
  readonly heldStreams: HeldStreamsResult | null;
  readonly memoryMegabytes: Readonly<Record<ProcessKind, number>>;
}

export interface ReportRow {
  readonly workload: string;
  readonly connections: number;
  /** The load generator straight at the model server: nothing in front of it can be quicker. */
  readonly mockRequestsPerSecond: number;
  readonly plainRequestsPerSecond: number;
  readonly gatewayRequestsPerSecond: number;
  /** Half of the range over the rounds, as a part of the median; of the side where that is most. */
  readonly spread: number;
  /** Gateway to plain Envoy, requests per second: the median of the rounds' quotients. */
  readonly ratio: number;
  /** The same to the no-op pair, and what it is meant to be; null where that was not measured or is not set. */
  readonly noopRatio: number | null;
  readonly target: number | null;
  readonly plainP50Ms: number;
  readonly gatewayP50Ms: number;
  readonly gatewayP99Ms: number;
  /** What the gateway's median latency is above that of plain Envoy: the median of the rounds' differences. */
  readonly addedP50Ms?: number;
  readonly cpuMsPerRequest: Readonly<Record<ProcessKind, number>>;
  readonly plainEnvoyCpuMsPerRequest: number;
  /** The same Envoy with a sidecar that decides nothing; null where it was not measured. */
  readonly noop: ProcessorFigures | null;
  /** Envoy AI Gateway; null where it was not measured, missing in runs of before it could be. */
  readonly aiGateway?: ProcessorFigures | null;
  /** CPU time of the sidecar per SSE event, in microseconds, or null. */
  readonly sidecarMicrosecondsPerEvent: number | null;
  readonly requests: number;
  readonly failures: number;
  /** The part of the processors that the machine's host gave to others, on average over all rounds, from 0 to 1. */
  readonly stolen?: number;
}

/** Another ext_proc server and its Envoy. */
export interface ProcessorFigures {
  readonly requestsPerSecond: number;
  /** To plain Envoy. */
  readonly ratio: number;
  /** Of the gateway to it. */
  readonly gatewayRatio?: number;
  readonly p50Ms: number;
  readonly addedP50Ms?: number;
  readonly sidecarCpuMsPerRequest: number;
  readonly envoyCpuMsPerRequest: number;
}

/** Sidecar, supervisor, Envoy and Redis: what the gateway takes of a machine. */
export function gatewayCpuMs(cpu: Readonly<Record<ProcessKind, number>>): number {
  return cpu.sidecar + cpu.supervisor + cpu.envoy + cpu.redis;
}

export function summarizeWorkload(result: WorkloadResult): ReportRow {
  const workload = WORKLOADS.find(({ name }) => name === result.workload);
  const { mock, plain, noop, aiGateway, gateway } = result;
  const all = [...mock, ...plain, ...noop, ...aiGateway, ...gateway];
  const cpuMsPerRequest = mapCpu(gateway);
  const events = workload?.events ?? 0;
  const noopFigures = summarizeProcessor(noop, result);
  return {
    workload: result.workload,
    connections: result.connections,
    mockRequestsPerSecond: rateOf(mock),
    plainRequestsPerSecond: rateOf(plain),
    gatewayRequestsPerSecond: rateOf(gateway),
    spread: Math.max(...[plain, noop, aiGateway, gateway].map(spreadOf)),
    ratio: quotientOf(gateway, plain),
    noopRatio: noopFigures === null ? null : quotientOf(gateway, noop),
    target: workload?.target ?? null,
    plainP50Ms: p50Of(plain),
    gatewayP50Ms: p50Of(gateway),
    gatewayP99Ms: median(gateway.map((round) => round.p99Ms)),
    addedP50Ms: addedP50Of(gateway, plain),
    cpuMsPerRequest,
    plainEnvoyCpuMsPerRequest: mapCpu(plain).envoy,
    noop: noopFigures,
    aiGateway: summarizeProcessor(aiGateway, result),
    sidecarMicrosecondsPerEvent: events === 0 ? null : (cpuMsPerRequest.sidecar * 1000) / events,
    requests: gateway.reduce((sum, round) => sum + round.requests, 0),
    failures: all.reduce((sum, round) => sum + round.failures, 0),
    stolen: all.reduce((sum, round) => sum + round.stolen, 0) / all.length,
  };
}

function summarizeProcessor(
  rounds: readonly RoundResult[],
  { plain, gateway }: WorkloadResult,
): ProcessorFigures | null {
  if (rounds.length === 0) return null;
  const { sidecar, envoy } = mapCpu(rounds);
  return {
    requestsPerSecond: rateOf(rounds),
    ratio: quotientOf(rounds, plain),
    gatewayRatio: quotientOf(gateway, rounds),
    p50Ms: p50Of(rounds),
    addedP50Ms: addedP50Of(rounds, plain),
    sidecarCpuMsPerRequest: sidecar,
    envoyCpuMsPerRequest: envoy,
  };
}

function rateOf(rounds: readonly RoundResult[]): number {
  return median(rounds.map((round) => round.requestsPerSecond));
}

function p50Of(rounds: readonly RoundResult[]): number {
  return median(rounds.map((round) => round.p50Ms));
}

/** A machine that changes its speed changes both sides of a round, which are measured one after the other. */
function quotientOf(rounds: readonly RoundResult[], others: readonly RoundResult[]): number {
  return medianOfPairs(rounds, others, (a, b) => a.requestsPerSecond / b.requestsPerSecond);
}

function addedP50Of(rounds: readonly RoundResult[], plain: readonly RoundResult[]): number {
  return medianOfPairs(rounds, plain, (a, b) => a.p50Ms - b.p50Ms);
}

function medianOfPairs(
  rounds: readonly RoundResult[],
  others: readonly RoundResult[],
  compare: (round: RoundResult, other: RoundResult) => number,
): number {
  return median(
    rounds.flatMap((round, index) => {
      const other = others[index];
      return other === undefined ? [] : [compare(round, other)];
    }),
  );
}

function spreadOf(rounds: readonly RoundResult[]): number {
  if (rounds.length === 0) return 0;
  const rates = rounds.map((round) => round.requestsPerSecond);
  return (Math.max(...rates) - Math.min(...rates)) / 2 / median(rates);
}

function mapCpu(rounds: readonly RoundResult[]): Record<ProcessKind, number> {
  return Object.fromEntries(
    PROCESS_KINDS.map((kind) => [kind, median(rounds.map((round) => round.cpuMsPerRequest[kind]))]),
  ) as Record<ProcessKind, number>;
}

export function describeMachine(versions: { readonly envoy: string; readonly redis: string }) {
  const [first] = cpus();
  return {
    cpu: first?.model ?? "unknown",
    cores: cpus().length,
    memoryGigabytes: Math.round(totalmem() / 1024 ** 3),
    node: process.version,
    ...versions,
  };
}
