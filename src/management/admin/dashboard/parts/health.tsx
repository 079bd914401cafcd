/** Health of models, keys, users, groups or upstreams: success, latency and speed. */
import { formatCount, formatDuration } from "../../format.ts";
import type { UsageRowView } from "../views.ts";
import { RowTable, type RowTableColumns } from "./table.tsx";

type HealthView = NonNullable<UsageRowView["health"]>;

export interface HealthRow {
  readonly name: string;
  /** Address of its requests; null: none. */
  readonly link: string | null;
  readonly health: HealthView;
}

interface HealthTableProps {
  /** Label for screen readers. */
  readonly label: string;
  /** Header of the names: "model". */
  readonly subject: string;
  readonly rows: readonly HealthRow[];
}

export function HealthTable({ label, subject, rows }: HealthTableProps) {
  return (
    <RowTable
      label={label}
      class="stack dense"
      columns={columnsOf(subject)}
      rows={rows}
      empty="No requests in this time."
    />
  );
}

function columnsOf(subject: string): RowTableColumns<HealthRow> {
  const number = (label: string, cell: (health: HealthView) => string) => ({
    label,
    kind: "number" as const,
    cell: ({ health }: HealthRow) => cell(health),
  });
  const percentile = (label: string, figure: "duration_ms" | "first_token_ms", share: "p50" | "p95") =>
    number(`${label} ${share}`, ({ [figure]: found }) =>
      found === null ? "–" : formatDuration(found[share]),
    );
  return [
    {
      label: subject,
      cell: ({ name, link }) => (link === null ? <bdi>{name}</bdi> : <a href={link}>{<bdi>{name}</bdi>}</a>),
    },
    number("requests", ({ judged_requests: judged }) => formatCount(judged)),
    { label: "success", kind: "number", cell: (row) => <Success {...row} /> },
    percentile("first token", "first_token_ms", "p50"),
    percentile("first token", "first_token_ms", "p95"),
    percentile("duration", "duration_ms", "p50"),
    percentile("duration", "duration_ms", "p95"),
    number("tokens per second", ({ output_tokens_per_second: speed }) =>
      speed === null ? "–" : formatCount(Math.round(speed)),
    ),
  ];
}

/** Share of successful requests, a link to the failed ones. */
function Success({ link, health: { judged_requests: judged, failed_requests: failed } }: HealthRow) {
  if (judged === 0) return <>–</>;
  const share = `${(Math.floor((1_000 * (judged - failed)) / judged) / 10).toFixed(1)} %`;
  return failed === 0 || link === null ? <>{share}</> : <a href={`${link}&status=5xx`}>{share}</a>;
}
