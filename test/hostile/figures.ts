/** What a run has come to, as docs/results/hostile.csv has it. */
import type { Combination } from "./combinations.ts";
import type { Memory } from "./hostile-stack.ts";
import type { Asked } from "./victim.ts";

/** Of the victim's quick requests, while something went on. */
export interface Latency {
  readonly requests: number;
  readonly medianMs: number;
  readonly p99Ms: number;
}

export interface PhaseFigures {
  readonly name: string;
  readonly latency: Latency;
  readonly memory: Memory;
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

export function measureLatency(asked: readonly Asked[]): Latency {
  const ms = asked
    .filter(({ isQuick }) => isQuick)
    .map(({ sentMs, endedMs }) => endedMs - sentMs)
    .toSorted((one, other) => one - other);
  const at = (share: number): number => ms[Math.min(ms.length - 1, Math.floor(ms.length * share))] ?? NaN;
  return { requests: ms.length, medianMs: at(0.5), p99Ms: at(0.99) };
}

/** A line for who watches. */
export function formatPhase(phase: PhaseFigures | undefined, failures: number): string {
  if (phase === undefined) return "";
  const { name, latency, memory } = phase;
  const { requests, medianMs, p99Ms } = latency;
  return `${name}: ${requests} requests, ${Math.round(medianMs)} ms, 99 % ${Math.round(p99Ms)} ms, ${formatMemory(memory)} MiB, ${failures} failures`;
}

/** In markdown: what each combination came to, then the latency under each attack. */
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
  ].join("\n");
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
  return latency === undefined ? "" : `${Math.round(latency.medianMs)}, ${Math.round(latency.p99Ms)}`;
}

function mostOf(memories: readonly Memory[]): Memory {
  const most = (name: keyof Memory): number => Math.max(...memories.map((memory) => memory[name]));
  return { envoy: most("envoy"), worker: most("worker"), redis: most("redis") };
}

function formatMemory({ envoy, worker, redis }: Memory): string {
  return [envoy, worker, redis].map((bytes) => Math.round(bytes / 1024 ** 2)).join(", ");
}
