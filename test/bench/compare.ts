/** Two runs beside each other. What differs by less than the rounds of a run do is marked as noise. */
import type { Report, ReportRow } from "./report.ts";

interface Figure {
  readonly name: string;
  readonly read: (row: ReportRow) => number | null;
}

const FIGURES: readonly Figure[] = [
  { name: "req/s", read: (row) => row.gatewayRequestsPerSecond },
  { name: "ratio to plain", read: (row) => row.ratio },
  { name: "ratio to no-op", read: (row) => row.noopRatio },
  { name: "p50 ms", read: (row) => row.gatewayP50Ms },
  { name: "sidecar CPU ms", read: (row) => row.cpuMsPerRequest.sidecar },
  { name: "Envoy CPU ms", read: (row) => row.cpuMsPerRequest.envoy },
  { name: "Redis CPU ms", read: (row) => row.cpuMsPerRequest.redis },
];

/** A line for each figure of each workload that both runs have. */
export function formatComparison(before: Report, after: Report): string {
  const isSameMachine =
    before.machine.cpu === after.machine.cpu && before.machine.cores === after.machine.cores;
  const lines = after.rows.flatMap((row) => {
    const former = before.rows.find(({ workload }) => workload === row.workload);
    return former === undefined ? [] : FIGURES.flatMap((figure) => formatChange(figure, former, row));
  });
  const warning = "Not the same machine: only ratios can be compared.";
  return [...(isSameMachine ? [] : [warning]), ...lines].join("\n");
}

function formatChange({ name, read }: Figure, former: ReportRow, row: ReportRow): string[] {
  const [old, now] = [read(former), read(row)];
  // Runs of before a figure was measured do not have it.
  if (!old || now === null) return [];
  const change = now / old - 1;
  const isNoise = Math.abs(change) < Math.max(former.spread, row.spread);
  const percent = `${change < 0 ? "" : "+"}${(change * 100).toFixed(0)} %`;
  return [
    `${row.workload} ${name}: ${round(old)} → ${round(now)} (${percent}${isNoise ? ", within the spread" : ""})`,
  ];
}

function round(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}
