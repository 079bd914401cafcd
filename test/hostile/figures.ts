/** What a run has come to, as docs/results/hostile.csv has it. */
import type { Combination } from "./combinations.ts";
import type { Memory } from "./hostile-stack.ts";

/** What began and ended. */
export interface Timed {
  readonly sentMs: number;
  readonly endedMs: number;
}

/** Of others' quick requests, while something went on. */
export interface Latency {
  readonly requests: number;
  readonly medianMs: number;
  readonly p99Ms: number;
}

export interface PhaseFigures {
  readonly name: string;
  readonly latency: Latency;
  /** Of others' calls of the management API and the dashboard, and of readiness probes. */
  readonly calls: Latency;
  readonly probes: Latency;
  readonly failures: number;
  readonly memory: Memory;
  /** What Redis holds, and all logs of the stack. */
  readonly redisBytes: number;
  readonly logBytes: number;
}

export interface RunFigures {
  readonly combination: Combination;
  /** The first one is without an attack. */
  readonly phases: readonly PhaseFigures[];
  readonly requests: number;
  readonly failures: number;
  readonly microcentsOff: bigint;
  readonly hostile: {
    readonly requests: number;
    readonly chargedMicrocents: bigint;
    readonly usedMicrocents: bigint;
  };
  readonly memoryAfter: Memory;
}

export function measureLatency(all: readonly Timed[]): Latency {
  const ms = all.map(({ sentMs, endedMs }) => endedMs - sentMs).toSorted((one, other) => one - other);
  const at = (share: number): number => ms[Math.min(ms.length - 1, Math.floor(ms.length * share))] ?? NaN;
  return { requests: ms.length, medianMs: at(0.5), p99Ms: at(0.99) };
}

/** A line for who watches. */
export function formatPhase(phase: PhaseFigures): string {
  const { name, latency, calls, probes, memory, failures } = phase;
  return `${name}: ${failures} failures; 50 and 99 % (ms): ${latency.requests} requests ${formatPair(latency)}, ${calls.requests} calls ${formatPair(calls)}, ${probes.requests} probes ${formatPair(probes)}; MiB: ${formatMemory(memory)}, Redis's data ${formatMebibytes(phase.redisBytes)}, logs ${formatMebibytes(phase.logBytes)}`;
}

/**
 * In markdown: what each combination came to, the latency under each attack, and for each attack what others beside the
 * request path saw and what the stack held.
 */
export function formatTables(runs: readonly RunFigures[]): string {
  const head = [
    "| both speak | transport | workers | requests | failures | microcents off | median, 99 % (ms): no attack | all at once | Envoy, largest worker, Redis (MiB): before | most seen | after |",
    "|---|---|---:|---:|---:|---:|---|---|---|---|---|",
  ];
  const names = runs[0]?.phases.map(({ name }) => name) ?? [];
  const columns = runs.map(({ combination }) => describe(combination));
  return [
    ...head,
    ...runs.map(formatRun),
    "",
    `| median, 99 % (ms) | ${columns.join(" | ")} |`,
    `|---|${columns.map(() => "---|").join("")}`,
    ...names.map((name) => `| ${name} | ${runs.map((run) => formatLatency(run, name)).join(" | ")} |`),
    "",
    "| both speak, transport, workers | attack | failures | median, 99 % (ms): calls | probes | Envoy, largest worker, Redis (MiB) | Redis's data (MiB) | logs (MiB) |",
    "|---|---|---:|---|---|---|---:|---:|",
    ...runs.flatMap(({ combination, phases }) =>
      phases.map((phase) => formatShared(describe(combination), phase)),
    ),
  ].join("\n");
}

function formatShared(combination: string, phase: PhaseFigures): string {
  const { name, failures, calls, probes, memory, redisBytes, logBytes } = phase;
  const cells = [
    combination,
    name,
    failures,
    formatPair(calls),
    formatPair(probes),
    formatMemory(memory),
    formatMebibytes(redisBytes),
    formatMebibytes(logBytes),
  ];
  return `| ${cells.join(" | ")} |`;
}

function describe({ http, transport, workers }: Combination): string {
  return `${http}, ${transport}, ${workers}`;
}

function formatRun(run: RunFigures): string {
  const { http, transport, workers } = run.combination;
  const [before] = run.phases;
  const last = run.phases.at(-1);
  const cells = [
    http,
    `\`${transport}\``,
    workers,
    run.requests,
    run.failures,
    run.microcentsOff,
    formatLatency(run, before?.name ?? ""),
    formatLatency(run, last?.name ?? ""),
    before === undefined ? "" : formatMemory(before.memory),
    formatMemory(mostOf(run.phases.map(({ memory }) => memory))),
    formatMemory(run.memoryAfter),
  ];
  return `| ${cells.join(" | ")} |`;
}

function formatLatency({ phases }: RunFigures, name: string): string {
  const latency = phases.find((phase) => phase.name === name)?.latency;
  return latency === undefined ? "" : formatPair(latency);
}

function formatPair({ medianMs, p99Ms }: Latency): string {
  return `${Math.round(medianMs)}, ${Math.round(p99Ms)}`;
}

function mostOf(memories: readonly Memory[]): Memory {
  const most = (name: keyof Memory): number => Math.max(...memories.map((memory) => memory[name]));
  return { envoy: most("envoy"), worker: most("worker"), redis: most("redis") };
}

function formatMemory({ envoy, worker, redis }: Memory): string {
  return [envoy, worker, redis].map(formatMebibytes).join(", ");
}

function formatMebibytes(bytes: number): string {
  return String(Math.round(bytes / 1024 ** 2));
}
