import { columnDecimals, MICROCENTS_PER_CENT } from "../../../../shared/money/money.ts";
import { formatAmount, formatCount } from "../../format.ts";
import { GROUP_BY_MODEL, groupByKey, type Grouping } from "../usage-columns.ts";
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
  /** Keep the order, as for days; otherwise the highest cost comes first. */
  readonly inOrder?: boolean;
}

/** Usage table by one grouping, with shares of the whole. */
export function UsageTable(props: UsageTableProps) {
  const { id, title, rows, currency, grouping, inOrder = false } = props;
  const total = addUp(rows, "cost_microcents");
  const groups = [...groupRows(rows, grouping.groupOf)].map(([group, own]) => {
    const cost = addUp(own, "cost_microcents");
    return {
      name: grouping.nameOf(group),
      share: total <= 0 ? 0 : Math.max(0, cost) / total,
      cost,
      rows: own,
    };
  });
  const sorted = inOrder ? groups : groups.toSorted((a, b) => b.cost - a.cost);
  const amounts = groups.map(({ cost }) => cost);
  const decimals = Math.min(columnDecimals(amounts), amounts.every(isLarge) ? 2 : MOST_DECIMALS);
  return (
    <Section id={id} title={title}>
      {groups.length === 0 ? (
        <p class="quiet">Nothing in this time.</p>
      ) : (
        <RowTable
          label={`${title}, table`}
          class="usage stack dense"
          columns={columnsOf(title.replace("By ", ""), (cost) => formatAmount(cost, currency, decimals))}
          rows={[...sorted, { name: "all", share: null, rows }]}
          classOf={({ share }) => (share === null ? "total" : undefined)}
        />
      )}
    </Section>
  );
}

/** Decimals of sums; a single request's cost is shown completely on its own page. */
const MOST_DECIMALS = 4;

/** Returns whether cents are precise enough. */
function isLarge(microcents: number): boolean {
  return microcents === 0 || Math.abs(microcents) >= 100 * MICROCENTS_PER_CENT;
}

interface UsageRow {
  readonly name: string;
  /** Share of the whole, 0 to 1; null for the whole. */
  readonly share: number | null;
  readonly rows: readonly UsageRowView[];
}

/** @param subject Label of the rows: "key". */
function columnsOf(subject: string, format: (microcents: number) => string): RowTableColumns<UsageRow> {
  const number = (label: string, figure: UsageFigure, formatFigure = formatCount) => ({
    label,
    kind: "number" as const,
    cell: ({ rows }: UsageRow) => formatFigure(addUp(rows, figure)),
  });
  return [
    { label: subject, cell: ({ name }) => <bdi title={name}>{name}</bdi> },
    {
      label: "share of the cost",
      short: "share",
      kind: "wide",
      cell: ({ name, share }) =>
        share === null ? "" : <ShareBar share={share} label={`${name}: share of the cost`} />,
    },
    number("requests", "requests"),
    number("input", "input_tokens"),
    number("cached", "cached_input_tokens"),
    number("output", "output_tokens"),
    number("cost", "cost_microcents", format),
  ];
}

interface OfRowsProps {
  readonly rows: readonly UsageRowView[];
  readonly currency: string;
}

export function UsageByKey(props: OfRowsProps) {
  return <UsageTable id="by-key" title="By key" grouping={groupByKey(props.rows)} {...props} />;
}

export function UsageByModel(props: OfRowsProps) {
  return <UsageTable id="by-model" title="By model" grouping={GROUP_BY_MODEL} {...props} />;
}
