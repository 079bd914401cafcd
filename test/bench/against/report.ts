/** The table of two builds. */
import { median } from "../measure.ts";
import { formatTable } from "../table.ts";
import type { Commit } from "./other-commit.ts";
import { type Comparison, compareRounds } from "./ratios.ts";
import type { Round, Turn } from "./rounds.ts";

interface Figure {
  readonly name: string;
  readonly read: (turn: Turn) => number;
}

const FIGURES: readonly Figure[] = [
  { name: "sidecar CPU, ms", read: ({ cpuMs }) => cpuMs.sidecar },
  { name: "Envoy CPU, ms", read: ({ cpuMs }) => cpuMs.envoy },
  { name: "Redis CPU, ms", read: ({ cpuMs }) => cpuMs.redis },
  { name: "supervisor CPU, ms", read: ({ cpuMs }) => cpuMs.supervisor },
  {
    name: "CPU of all four, ms",
    read: ({ cpuMs }) => cpuMs.sidecar + cpuMs.envoy + cpuMs.redis + cpuMs.supervisor,
  },
  { name: "script calls", read: ({ scriptCalls }) => scriptCalls },
  { name: "Redis commands", read: ({ redisCommands }) => redisCommands },
  { name: "requests/s", read: ({ requestsPerSecond }) => requestsPerSecond },
  { name: "p50, ms", read: ({ p50Ms }) => p50Ms },
];

export interface FigureResult {
  readonly row: string;
  readonly figure: string;
  /** Medians over all turns. */
  readonly other: number;
  readonly own: number;
  /** Of each round: the median of its turns' ratios. */
  readonly ratios: readonly number[];
  readonly comparison: Comparison | null;
}

/** Every figure of every row. */
export function summarizeRounds(rounds: readonly Round[]): FigureResult[] {
  const rows = [...new Set(rounds.flatMap((round) => Object.keys(round)))];
  return rows.flatMap((row) => {
    const byRound = rounds.flatMap((round) => (round[row] === undefined ? [] : [round[row]]));
    return FIGURES.map(({ name, read }) => {
      const ratios = byRound.map((pairs) => median(pairs.map(([own, other]) => read(own) / read(other))));
      const medianOf = (side: 0 | 1): number => median(byRound.flat().map((pair) => read(pair[side])));
      const comparison = compareRounds(ratios);
      return { row, figure: name, other: medianOf(1), own: medianOf(0), ratios, comparison };
    });
  });
}

/** A line for each row with failed requests. */
export function formatFailures(rounds: readonly Round[], { id }: Commit): string[] {
  const rows = [...new Set(rounds.flatMap((round) => Object.keys(round)))];
  return rows.flatMap((row) => {
    const pairs = rounds.flatMap((round) => round[row] ?? []);
    const sum = (side: 0 | 1): number => pairs.reduce((total, pair) => total + pair[side].failures, 0);
    const [own, other] = [sum(0), sum(1)];
    return own + other === 0 ? [] : [`${row}: ${own} requests of this tree failed, ${other} of ${id}`];
  });
}

export function formatResults(results: readonly FigureResult[], other: Commit): string {
  const confidence = Math.min(...results.flatMap((result) => result.comparison?.confidence ?? []));
  const percent = `${Math.floor(confidence * 100)} %`;
  const table = formatTable(
    ["row", "per request", other.id, "this tree", "ratio", `${percent} interval`, ""],
    results.map(({ row, figure, other: before, own, comparison }) => [
      row,
      figure,
      formatValue(before),
      formatValue(own),
      ...(comparison === null ? ["", "", ""] : formatRatio(comparison)),
    ]),
  );
  return `${table}\n\n${explain(other, percent)}`;
}

function formatRatio({ ratio, low, high, verdict }: Comparison): string[] {
  return [ratio.toFixed(3), `${low.toFixed(3)} to ${high.toFixed(3)}`, verdict];
}

function formatValue(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}

function explain({ id }: Commit, percent: string): string {
  return [
    `ratio: this tree divided by ${id}, the median of the rounds. Each round starts both builds anew.`,
    `interval: contains the true ratio in ${percent} of such runs. More rounds narrow it.`,
    "more, less: the whole interval is above or below 1, so the builds differ.",
    "same: the whole interval is within 3 % of 1. open: this run cannot tell; take more rounds or a quieter machine.",
    "CPU figures are what counts. requests/s and p50 depend on what else the machine does.",
    "cold: the first requests of a fresh worker. warm: after the warm-up. alone: then at one connection, where no calls to Redis are shared.",
    "idle: a fresh worker with a few requests per second; its CPU includes work in the background.",
  ].join("\n");
}
