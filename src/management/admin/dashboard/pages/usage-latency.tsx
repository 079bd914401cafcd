/** Latency on *Usage*: percentiles over time, and health by what the page groups by. */
import { formatDuration } from "../../format.ts";
import type { OrganizationPageCall } from "../page.ts";
import { HealthTable } from "../parts/health.tsx";
import { Section } from "../parts/layout.tsx";
import { StackedColumns } from "../parts/stacked-columns.tsx";
import { tagOf, type UsageChoice } from "../usage-choice.ts";
import { columnsOf, groupBy, SMALLER_GROUPS } from "../usage-columns.ts";
import type { UsageRowView } from "../views.ts";

interface LatencyProps {
  readonly page: OrganizationPageCall;
  readonly choice: UsageChoice;
  /** With health, by what the page groups by. */
  readonly rows: readonly UsageRowView[];
  /** With health, by the unit of time. */
  readonly overTime: readonly UsageRowView[];
}

export function Latency({ page, choice, rows, overTime }: LatencyProps) {
  const { by } = choice;
  const columns = columnsOf(choice.range, choice.unit);
  const percentile = (share: "p50" | "p95") =>
    columns.addUp(overTime, ([row]) => row?.health?.duration_ms?.[share] ?? 0);
  const [p50, p95] = [percentile("p50"), percentile("p95")];
  const grouping = groupBy(rows, by);
  const subject = tagOf(by) ?? by;
  return (
    <>
      <Section id="chart" title="Duration of requests">
        <StackedColumns
          label="Duration of requests: p50, p95"
          columns={columns.titles}
          series={[
            { name: "p50", values: p50 },
            { name: "from p50 to p95", values: p95.map((value, index) => value - (p50[index] ?? 0)) },
          ]}
          unit="seconds"
          format={formatDuration}
          formatTick={(ms) => String(ms / 1_000)}
        />
      </Section>
      <Section id="health" title={`Health by ${subject}`}>
        <HealthTable
          label={`Health by ${subject}, table`}
          subject={subject}
          rows={rows.flatMap((row) => {
            const group = grouping.groupOf(row);
            const link = group === SMALLER_GROUPS ? null : requestsPath(page, by, group);
            return row.health === undefined
              ? []
              : [{ name: grouping.nameOf(group), link, health: row.health }];
          })}
        />
      </Section>
    </>
  );
}

/** Returns the address of a group's requests; null for rows without one, which no filter finds. */
export function requestsPath(
  { base }: Pick<OrganizationPageCall, "base">,
  by: string,
  group: string,
): string | null {
  const tag = tagOf(by);
  if (group === "" || (tag !== null && group === "other")) return null;
  const filter = ["key", "user", "group"].includes(by) ? `${by}_id` : tag === null ? by : "tag";
  return `${base}/requests?${new URLSearchParams({ [filter]: tag === null ? group : `${tag}=${group}` }).toString()}`;
}
