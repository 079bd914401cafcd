/** Requests over time. A column is a link to the requests in it; the script narrows to several at a time. */
import { formatCount, formatCountOf, formatTickCount } from "../../format.ts";
import { narrowTo, type RequestChoice } from "../request-choice.ts";
import type { RequestCountsView } from "../views.ts";
import { StackedColumns } from "./stacked-columns.tsx";

const ENDS = ["succeeded", "rejected", "failed"] as const;
const DAY_SECONDS = 86_400;

interface RequestHistogramProps {
  readonly path: string;
  readonly choice: RequestChoice;
  readonly counts: RequestCountsView;
}

export function RequestHistogram({ path, choice, counts }: RequestHistogramProps) {
  const { data, step_seconds: step } = counts;
  const all = ENDS.map((end) => ({
    name: end,
    class: end,
    values: data.map((column) => column[end]),
  }));
  const total = all.flatMap(({ values }) => values).reduce((sum, value) => sum + value, 0);
  if (total === 0) return null;
  const span = (counts.data.length * step) / DAY_SECONDS;
  const endOf = (at: string): string => inSeconds(new Date(Date.parse(at) + step * 1000).toISOString());
  return (
    <>
      <StackedColumns
        label={`${formatCountOf(total, "request")} over time`}
        columns={data.map(({ at }) => ({ title: nameTime(at), short: shortTime(at, span) }))}
        series={all.filter(({ values }) => values.some((value) => value > 0))}
        unit="requests"
        format={formatCount}
        formatTick={(count) => (Number.isInteger(count) ? formatTickCount(count) : "")}
        hrefOf={(index) => {
          const at = inSeconds(data[index]?.at ?? "");
          return narrowTo(path, choice, { from: at, to: endOf(at) });
        }}
        isLow
      />
      <p class="quiet narrowing" data-narrowing="" hidden>
        Drag over the columns to narrow the time, or hold Shift with the arrow keys and press Enter.
      </p>
    </>
  );
}

/** "2026-11-21 14:03:00" */
function nameTime(at: string): string {
  return inSeconds(at).slice(0, -1).replace("T", " ");
}

/** "2026-11-21T14:03:00Z" */
function inSeconds(at: string): string {
  return at.replace(/\.\d+Z$/, "Z");
}

/** @param days Days that the chart covers. */
function shortTime(at: string, days: number): string {
  if (days > 3) return at.slice("2026-".length, "2026-11-21".length);
  return days > 0.1 ? at.slice(11, 16) : at.slice(11, 19);
}
