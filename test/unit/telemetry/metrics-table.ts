import { METRICS, type MetricDefinition } from "../../../src/shared/telemetry/metric-definitions.ts";

/** The table of docs/observability.md, made from the definitions. */
export function renderMetricsTable(): string {
  const rows = Object.values(METRICS as Readonly<Record<string, MetricDefinition>>).map(
    ({ name, type, labels, help }) =>
      `| \`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(", ")} | ${help} |`,
  );
  return ["| Metric | Type | Labels | Meaning |", "|---|---|---|---|", ...rows].join("\n");
}
