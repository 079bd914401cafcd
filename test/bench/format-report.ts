/** The figures of a run, as tables of Markdown. */
import type { HeldStreamsResult } from "./held-streams.ts";
import { PROCESS_KINDS } from "./processes.ts";
import { gatewayCpuMs, type ProcessorFigures, type Report, type ReportRow } from "./report.ts";
import { formatTable } from "./table.ts";

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
  "taken by the host",
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
    row.stolen === undefined ? "" : `${(row.stolen * 100).toFixed(1)} %`,
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
      aiGateway.gatewayRatio?.toFixed(2) ?? "",
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
    .map(({ addedP50Ms = 0, noop, aiGateway }) => {
      const addedBy = (name: string, milliseconds: number | undefined): string =>
        milliseconds === undefined ? "" : `; ${name} ${milliseconds.toFixed(2)} ms`;
      const others =
        addedBy("the no-op pair", noop?.addedP50Ms) + addedBy("AI Gateway", aiGateway?.addedP50Ms);
      return `added latency at one connection, p50: ${addedP50Ms.toFixed(2)} ms (goal 1.10)${others}`;
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
