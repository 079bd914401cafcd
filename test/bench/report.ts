/** The figures of a run, as tables of Markdown and as JSON. */
import { cpus, totalmem } from "node:os";
import type { HeldStreamsResult } from "./held-streams.ts";
import { median, type RoundResult, type WorkloadResult } from "./measure.ts";
import { PROCESS_KINDS, type ProcessKind } from "./processes.ts";
import { formatTable } from "./table.ts";
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
  /** Of the medians: gateway to plain Envoy. */
  readonly ratio: number;
  /** Of the medians: gateway to the no-op pair, and what it is meant to be; null where that was not measured or is not set. */
  readonly noopRatio: number | null;
  readonly target: number | null;
  readonly plainP50Ms: number;
  readonly gatewayP50Ms: number;
  readonly gatewayP99Ms: number;
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
}

/** Another ext_proc server and its Envoy. */
export interface ProcessorFigures {
  readonly requestsPerSecond: number;
  /** Of plain Envoy. */
  readonly ratio: number;
  readonly p50Ms: number;
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
  const gatewayRate = rateOf(gateway);
  const plainRate = rateOf(plain);
  const cpuMsPerRequest = mapCpu(gateway);
  const events = workload?.events ?? 0;
  const noopFigures = summarizeProcessor(noop, plainRate);
  return {
    workload: result.workload,
    connections: result.connections,
    mockRequestsPerSecond: rateOf(mock),
    plainRequestsPerSecond: plainRate,
    gatewayRequestsPerSecond: gatewayRate,
    spread: Math.max(...[plain, noop, aiGateway, gateway].map(spreadOf)),
    ratio: gatewayRate / plainRate,
    noopRatio: noopFigures === null ? null : gatewayRate / noopFigures.requestsPerSecond,
    target: workload?.target ?? null,
    plainP50Ms: p50Of(plain),
    gatewayP50Ms: p50Of(gateway),
    gatewayP99Ms: median(gateway.map((round) => round.p99Ms)),
    cpuMsPerRequest,
    plainEnvoyCpuMsPerRequest: mapCpu(plain).envoy,
    noop: noopFigures,
    aiGateway: summarizeProcessor(aiGateway, plainRate),
    sidecarMicrosecondsPerEvent: events === 0 ? null : (cpuMsPerRequest.sidecar * 1000) / events,
    requests: gateway.reduce((sum, round) => sum + round.requests, 0),
    failures: [...mock, ...plain, ...noop, ...aiGateway, ...gateway].reduce(
      (sum, round) => sum + round.failures,
      0,
    ),
  };
}

function summarizeProcessor(rounds: readonly RoundResult[], plainRate: number): ProcessorFigures | null {
  if (rounds.length === 0) return null;
  const { sidecar, envoy } = mapCpu(rounds);
  return {
    requestsPerSecond: rateOf(rounds),
    ratio: rateOf(rounds) / plainRate,
    p50Ms: p50Of(rounds),
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

const RATE_HEADINGS = [
  "workload",
  "connections",
  "mock alone req/s",
  "plain Envoy req/s",
  "no-op pair req/s",
  "gateway req/s",
  "±",
  "gateway ÷ no-op",
  "goal",
  "gateway ÷ plain",
  "failures",
];
const AI_GATEWAY_HEADINGS = [
  "workload",
  "AI Gateway req/s",
  "gateway req/s",
  "gateway ÷ AI Gateway",
  "p50 ms: AI Gateway, gateway",
  "CPU ms, processor + Envoy: AI Gateway",
  "sidecar + Envoy + Redis: gateway",
];
const CPU_HEADINGS = [
  "workload",
  "p50 ms (plain, no-op)",
  "p99 ms",
  "sidecar ms (no-op)",
  "Envoy ms (plain, no-op)",
  "Redis ms",
  "supervisor ms",
  "gateway in all ms",
  "mock ms",
  "generator ms",
  "µs/event",
];

export function formatReport(report: Report): string {
  const { machine, memoryMegabytes, heldStreams } = report;
  const memory = PROCESS_KINDS.filter((kind) => kind !== "generator")
    .map((kind) => `${kind} ${memoryMegabytes[kind].toFixed(0)} MB`)
    .join(", ");
  return [
    `${machine.cpu}, ${machine.cores} cores, ${machine.memoryGigabytes} GB, Node ${machine.node}, ` +
      `Envoy ${machine.envoy}, Redis ${machine.redis}`,
    Object.entries(report.options)
      .map(([name, value]) => `${name} ${value}`)
      .join(", "),
    "",
    formatTable(RATE_HEADINGS, report.rows.map(formatRates)),
    "",
    "CPU time per request, all processes of a kind together:",
    "",
    formatTable(CPU_HEADINGS, report.rows.map(formatCpu)),
    "",
    ...formatBesideAiGateway(report.rows),
    ...formatAddedLatency(report.rows),
    `memory at the end: ${memory}`,
    ...(heldStreams === null ? [] : [formatHeldStreams(heldStreams)]),
  ].join("\n");
}

function formatRates(row: ReportRow): string[] {
  return [
    `\`${row.workload}\``,
    String(row.connections),
    formatRate(row.mockRequestsPerSecond),
    formatRate(row.plainRequestsPerSecond),
    row.noop === null ? "" : formatRate(row.noop.requestsPerSecond),
    formatRate(row.gatewayRequestsPerSecond),
    `${(row.spread * 100).toFixed(0)} %`,
    row.noopRatio === null ? "" : row.noopRatio.toFixed(2),
    row.target === null ? "" : row.target.toFixed(2),
    row.ratio.toFixed(3),
    `${row.failures} of ${row.requests.toLocaleString("en")}`,
  ];
}

function formatCpu(row: ReportRow): string[] {
  const { cpuMsPerRequest: cpu, noop } = row;
  const ofNoop = (text: (figures: ProcessorFigures) => string): string => (noop === null ? "-" : text(noop));
  return [
    `\`${row.workload}\``,
    `${row.gatewayP50Ms.toFixed(2)} (${row.plainP50Ms.toFixed(2)}, ${ofNoop(({ p50Ms }) => p50Ms.toFixed(2))})`,
    row.gatewayP99Ms.toFixed(1),
    `${cpu.sidecar.toFixed(3)} (${ofNoop((figures) => figures.sidecarCpuMsPerRequest.toFixed(3))})`,
    `${cpu.envoy.toFixed(3)} (${row.plainEnvoyCpuMsPerRequest.toFixed(3)}, ${ofNoop((figures) => figures.envoyCpuMsPerRequest.toFixed(3))})`,
    cpu.redis.toFixed(3),
    cpu.supervisor.toFixed(3),
    gatewayCpuMs(cpu).toFixed(3),
    cpu.mock.toFixed(3),
    cpu.generator.toFixed(3),
    row.sidecarMicrosecondsPerEvent === null ? "" : row.sidecarMicrosecondsPerEvent.toFixed(1),
  ];
}

function formatBesideAiGateway(rows: readonly ReportRow[]): string[] {
  const cells = rows.flatMap((row) => {
    const { aiGateway, cpuMsPerRequest: cpu } = row;
    if (!aiGateway) return [];
    const line = [
      `\`${row.workload}\``,
      formatRate(aiGateway.requestsPerSecond),
      formatRate(row.gatewayRequestsPerSecond),
      (row.gatewayRequestsPerSecond / aiGateway.requestsPerSecond).toFixed(2),
      `${aiGateway.p50Ms.toFixed(2)}, ${row.gatewayP50Ms.toFixed(2)}`,
      formatSum(aiGateway.sidecarCpuMsPerRequest, aiGateway.envoyCpuMsPerRequest),
      formatSum(cpu.sidecar, cpu.envoy, cpu.redis),
    ];
    return [line];
  });
  if (cells.length === 0) return [];
  return [
    "Beside Envoy AI Gateway without keys, limits and costs:",
    "",
    formatTable(AI_GATEWAY_HEADINGS, cells),
    "",
  ];
}

function formatSum(...parts: readonly number[]): string {
  return parts.map((part) => part.toFixed(3)).join(" + ");
}

function formatRate(value: number): string {
  return Math.round(value).toLocaleString("en");
}

function formatAddedLatency(rows: readonly ReportRow[]): string[] {
  return rows
    .filter(({ connections }) => connections === 1)
    .map(({ gatewayP50Ms, plainP50Ms, noop, aiGateway }) => {
      const addedBy = (name: string, p50Ms: number | undefined): string =>
        p50Ms === undefined ? "" : `; ${name} ${(p50Ms - plainP50Ms).toFixed(2)} ms`;
      const added = (gatewayP50Ms - plainP50Ms).toFixed(2);
      const others = addedBy("the no-op pair", noop?.p50Ms) + addedBy("AI Gateway", aiGateway?.p50Ms);
      return `added latency at one connection, p50: ${added} ms (goal 1.10)${others}`;
    });
}

function formatHeldStreams(held: HeldStreamsResult): string {
  const failures = Object.entries(held.failures).map(([reason, count]) => `${count} × ${reason}`);
  return (
    `${held.streams} open streams: sidecar ${held.sidecarBeforeMegabytes.toFixed(0)} MB before, ` +
    `${held.sidecarOpenMegabytes.toFixed(0)} MB open, ${held.sidecarLaterMegabytes.toFixed(0)} MB later (goal 250); ` +
    `Envoy ${held.envoyLaterMegabytes.toFixed(0)} MB; failures: ${failures.length === 0 ? "none" : failures.join(", ")}`
  );
}
