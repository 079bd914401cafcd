import { columnDecimals, MICROCENTS_PER_CENT } from "../../../../shared/money/money.ts";
import { formatAmount, formatCount } from "../../format.ts";
import { USAGE_METRICS, type UsageMetric } from "../usage-choice.ts";
import { type Grouping, SMALLER_GROUPS, rankGroups } from "../usage-columns.ts";
import { addUp, groupRows, type UsageFigure } from "../usage-range.ts";
import type { UsageRowView } from "../views.ts";
import { ShareBar } from "./charts.tsx";
import { RowTable, type RowTableColumns } from "./table.tsx";
import { Section } from "./layout.tsx";

interface UsageTableProps {
  readonly id: string;
  /** "By key". */
  readonly title: string;
  readonly rows: readonly UsageRowView[];
  readonly currency: string;
  /** Grouping of the rows. */
  readonly grouping: Grouping;
  /** Keep the order, as for days; otherwise the largest comes first. */
  readonly inOrder?: boolean;
  /** Figure that shares refer to. Default: the cost. */
  readonly metric?: UsageMetric;
  /** Returns the link of a group's name; null: none. Omitted: no name is a link. */
  readonly linkOf?: (group: string) => string | null;
}

/** Usage table by one grouping, with shares of the whole. */
export function UsageTable(props: UsageTableProps) {
  const { id, title, rows, currency, grouping, inOrder = false, metric = "cost", linkOf } = props;
  const { of } = USAGE_METRICS[metric];
  const total = of(rows);
  const sorted = inOrder ? [...groupRows(rows, grouping.groupOf)] : rankGroups(rows, grouping, of);
  const groups = sorted.map(([group, own]) => ({
    name: grouping.nameOf(group),
    link: group === SMALLER_GROUPS ? null : (linkOf?.(group) ?? null),
    share: total <= 0 ? 0 : Math.max(0, of(own)) / total,
    rows: own,
  }));
  const amounts = sorted.map(([, own]) => addUp(own, "cost_microcents"));
  const decimals = Math.min(columnDecimals(amounts), amounts.every(isLarge) ? 2 : MAX_DECIMALS);
  return (
    <Section id={id} title={title}>
      {groups.length === 0 ? (
        <p class="quiet">No usage in this time.</p>
      ) : (
        <RowTable
          label={`${title}, table`}
          class="usage stack dense"
          columns={columnsOf(title.replace("By ", ""), metric, (cost) =>
            formatAmount(cost, currency, decimals),
          )}
          rows={[...groups, { name: "all", link: null, share: null, rows }]}
          classOf={({ share }) => (share === null ? "total" : undefined)}
        />
      )}
    </Section>
  );
}

/** Decimals of sums; a single request's cost is shown completely on its own page. */
const MAX_DECIMALS = 4;

/** Returns whether cents are precise enough. */
function isLarge(microcents: number): boolean {
  return microcents === 0 || Math.abs(microcents) >= 100 * MICROCENTS_PER_CENT;
}

interface UsageRow {
  readonly name: string;
  readonly link: string | null;
  /** Share of the whole, 0 to 1; null for the whole. */
  readonly share: number | null;
  readonly rows: readonly UsageRowView[];
}

/** @param subject Label of the rows: "key". */
function columnsOf(
  subject: string,
  metric: UsageMetric,
  format: (microcents: number) => string,
): RowTableColumns<UsageRow> {
  const share = `share of the ${USAGE_METRICS[metric].label.toLowerCase()}`;
  const number = (label: string, figure: UsageFigure, formatFigure = formatCount) => ({
    label,
    kind: "number" as const,
    cell: ({ rows }: UsageRow) => formatFigure(addUp(rows, figure)),
  });
  return [
    { label: subject, cell: (row) => <GroupName {...row} /> },
    {
      label: share,
      short: "share",
      kind: "wide",
      cell: (row) =>
        row.share === null ? "" : <ShareBar share={row.share} label={`${row.name}: ${share}`} />,
    },
    number("requests", "requests"),
    number("input", "input_tokens"),
    number("cached", "cached_input_tokens"),
    number("output", "output_tokens"),
    number("cost", "cost_microcents", format),
  ];
}

function GroupName({ name, link }: UsageRow) {
  const text = <bdi title={name}>{name}</bdi>;
  return link === null ? text : <a href={link}>{text}</a>;
}
