/** The figures of a run, as a table for people and as JSON. */
import { cpus, totalmem } from "node:os";
import type { HeldStreamsResult } from "./held-streams.ts";
import { type LatencyResult, median, type RoundResult, type WorkloadResult } from "./measure.ts";
import { PROCESS_KINDS, type ProcessKind } from "./processes.ts";
import { WORKLOADS } from "./workloads.ts";

export interface Report {
  readonly machine: {
    readonly cpu: string;
    readonly cores: number;
    readonly memoryGigabytes: number;
    readonly node: string;
    readonly envoy: string;
  };
  readonly options: Readonly<Record<string, string | number>>;
  readonly rows: readonly ReportRow[];
  readonly addedLatencyMs: number | null;
  readonly heldStreams: HeldStreamsResult | null;
  readonly memoryMegabytes: Readonly<Record<ProcessKind, number>>;
}

export interface ReportRow {
  readonly workload: string;
  readonly plainRequestsPerSecond: number;
  readonly gatewayRequestsPerSecond: number;
  /** Half of the range over the rounds, as a part of the median; of the side where that is more. */
  readonly spread: number;
  /** Ratio of the medians. */
  readonly ratio: number;
  readonly target: number;
  readonly gatewayP50Ms: number;
  readonly gatewayP99Ms: number;
  readonly cpuMsPerRequest: Readonly<Record<ProcessKind, number>>;
  readonly plainEnvoyCpuMsPerRequest: number;
  /** The same Envoy with a sidecar that decides nothing; null where it was not measured. */
  readonly noop: NoopFigures | null;
  /** CPU time of the sidecar per SSE event, in microseconds, or null. */
  readonly sidecarMicrosecondsPerEvent: number | null;
  readonly requests: number;
  readonly failures: number;
}

export interface NoopFigures {
  readonly requestsPerSecond: number;
  /** Of plain Envoy. */
  readonly ratio: number;
  readonly sidecarCpuMsPerRequest: number;
  readonly envoyCpuMsPerRequest: number;
}

export function summarizeWorkload(result: WorkloadResult): ReportRow {
  const workload = WORKLOADS.find(({ name }) => name === result.workload);
  const { plain, noop, gateway } = result;
  const rates = gateway.map((round) => round.requestsPerSecond);
  const plainRates = plain.map((round) => round.requestsPerSecond);
  const plainRate = median(plainRates);
  const gatewayRate = median(rates);
  const cpuMsPerRequest = mapCpu(gateway);
  const events = workload?.events ?? 0;
  return {
    workload: result.workload,
    plainRequestsPerSecond: plainRate,
    gatewayRequestsPerSecond: gatewayRate,
    spread: Math.max(spreadOf(rates), spreadOf(plainRates)),
    ratio: gatewayRate / plainRate,
    target: workload?.target ?? 0,
    gatewayP50Ms: median(gateway.map((round) => round.p50Ms)),
    gatewayP99Ms: median(gateway.map((round) => round.p99Ms)),
    cpuMsPerRequest,
    plainEnvoyCpuMsPerRequest: mapCpu(plain).envoy,
    noop: noop.length === 0 ? null : summarizeNoop(noop, plainRate),
    sidecarMicrosecondsPerEvent: events === 0 ? null : (cpuMsPerRequest.sidecar * 1000) / events,
    requests: gateway.reduce((sum, round) => sum + round.requests, 0),
    failures: [...plain, ...noop, ...gateway].reduce((sum, round) => sum + round.failures, 0),
  };
}

function summarizeNoop(rounds: readonly RoundResult[], plainRate: number): NoopFigures {
  const requestsPerSecond = median(rounds.map((round) => round.requestsPerSecond));
  const { sidecar, envoy } = mapCpu(rounds);
  return {
    requestsPerSecond,
    ratio: requestsPerSecond / plainRate,
    sidecarCpuMsPerRequest: sidecar,
    envoyCpuMsPerRequest: envoy,
  };
}

function spreadOf(rates: readonly number[]): number {
  return (Math.max(...rates) - Math.min(...rates)) / 2 / median(rates);
}

function mapCpu(rounds: readonly RoundResult[]): Record<ProcessKind, number> {
  return Object.fromEntries(
    PROCESS_KINDS.map((kind) => [kind, median(rounds.map((round) => round.cpuMsPerRequest[kind]))]),
  ) as Record<ProcessKind, number>;
}

export function describeMachine(envoy: string): Report["machine"] {
  const [first] = cpus();
  return {
    cpu: first?.model ?? "unknown",
    cores: cpus().length,
    memoryGigabytes: Math.round(totalmem() / 1024 ** 3),
    node: process.version,
    envoy,
  };
}

export function addedLatencyMs(latency: LatencyResult): number {
  return latency.gatewayP50Ms - latency.plainP50Ms;
}

const HEADINGS =
  "workload|plain req/s|gateway req/s|±|ratio|goal|p50 ms|p99 ms|sidecar ms|Envoy ms (plain)|Redis ms|µs/event|failures";

export function formatReport(report: Report): string {
  const { machine, memoryMegabytes, heldStreams } = report;
  const table = [HEADINGS.split("|"), ...report.rows.map((row) => formatRow(row))];
  const memory = PROCESS_KINDS.map((kind) => `${kind} ${memoryMegabytes[kind].toFixed(0)} MB`).join(", ");
  return [
    `${machine.cpu}, ${machine.cores} cores, Node ${machine.node}, Envoy ${machine.envoy}`,
    Object.entries(report.options)
      .map(([name, value]) => `${name} ${value}`)
      .join(", "),
    "",
    ...alignColumns(table),
    "",
    ...report.rows.flatMap(({ workload, noop }) => (noop === null ? [] : [formatNoop(workload, noop)])),
    ...(report.addedLatencyMs === null
      ? []
      : [`added latency at one connection, p50: ${report.addedLatencyMs.toFixed(2)} ms (goal 0.90)`]),
    `memory at the end: ${memory}`,
    ...(heldStreams === null ? [] : [formatHeldStreams(heldStreams)]),
    "CPU columns: milliseconds per request, all processes of that kind together.",
  ].join("\n");
}

function formatRow(row: ReportRow): string[] {
  const { cpuMsPerRequest: cpu } = row;
  return [
    row.workload,
    row.plainRequestsPerSecond.toFixed(0),
    row.gatewayRequestsPerSecond.toFixed(0),
    `${(row.spread * 100).toFixed(0)}%`,
    row.ratio.toFixed(3),
    row.target.toFixed(2),
    row.gatewayP50Ms.toFixed(2),
    row.gatewayP99Ms.toFixed(1),
    cpu.sidecar.toFixed(3),
    `${cpu.envoy.toFixed(3)} (${row.plainEnvoyCpuMsPerRequest.toFixed(3)})`,
    cpu.redis.toFixed(3),
    row.sidecarMicrosecondsPerEvent === null ? "-" : row.sidecarMicrosecondsPerEvent.toFixed(1),
    `${row.failures} of ${row.requests}`,
  ];
}

function formatNoop(workload: string, noop: NoopFigures): string {
  return (
    `${workload} with a sidecar that decides nothing: ${noop.requestsPerSecond.toFixed(0)} req/s, ` +
    `ratio ${noop.ratio.toFixed(3)}, sidecar ${noop.sidecarCpuMsPerRequest.toFixed(3)} ms, ` +
    `Envoy ${noop.envoyCpuMsPerRequest.toFixed(3)} ms`
  );
}

function formatHeldStreams(held: HeldStreamsResult): string {
  const failures = Object.entries(held.failures).map(([reason, count]) => `${count} × ${reason}`);
  return (
    `${held.streams} open streams: sidecar ${held.sidecarBeforeMegabytes.toFixed(0)} MB before, ` +
    `${held.sidecarOpenMegabytes.toFixed(0)} MB open, ${held.sidecarLaterMegabytes.toFixed(0)} MB later (goal 250); ` +
    `Envoy ${held.envoyLaterMegabytes.toFixed(0)} MB; failures: ${failures.length === 0 ? "none" : failures.join(", ")}`
  );
}

function alignColumns(table: readonly (readonly string[])[]): string[] {
  const widths = (table[0] ?? []).map((_, column) =>
    Math.max(...table.map((row) => row[column]?.length ?? 0)),
  );
  return table.map((row) => row.map((cell, column) => cell.padStart(widths[column] ?? 0)).join("  "));
}
