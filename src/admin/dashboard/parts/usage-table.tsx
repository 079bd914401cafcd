/** @jsxImportSource hono/jsx */
import { MICROCENTS_PER_CENT } from "../../../money.ts";
import { columnDecimals, formatAmount, formatCount } from "../../format.ts";
import { GROUP_BY_MODEL, groupByKey, type Grouping } from "../usage-groups.ts";
import { addUp, groupRows } from "../usage-range.ts";
import type { UsageRowView } from "../views.ts";
import { ShareBar } from "./charts.tsx";
import { Cell, NumberCells, numberColumns, Table } from "./table.tsx";

const COLUMNS = [
  { label: "share of the cost", kind: "wide" },
  ...numberColumns(["requests", "input", "cached", "output", "cost"]),
] as const;

interface UsageTableProps {
  readonly id: string;
  /** "By key". */
  readonly title: string;
  readonly rows: readonly UsageRowView[];
  readonly currency: string;
  /** What a row of the table is. */
  readonly grouping: Grouping;
  /** Days stay in their order; everything else comes with the dearest first. */
  readonly inOrder?: boolean;
}

/** Usage by one group: shares are of the whole. */
export function UsageTable(props: UsageTableProps) {
  const { id, title, rows, currency, grouping, inOrder = false } = props;
  const groups = [...groupRows(rows, grouping.groupOf)].map(([group, own]) => ({ group, sum: addUp(own) }));
  const sorted = inOrder ? groups : groups.toSorted((a, b) => b.sum.microcents - a.sum.microcents);
  const total = addUp(rows);
  const amounts = groups.map(({ sum }) => sum.microcents);
  const decimals = Math.min(columnDecimals(amounts), amounts.every(isLarge) ? 2 : MOST_DECIMALS);
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {groups.length === 0 ? (
        <p class="quiet">Nothing in this time.</p>
      ) : (
        <Table
          label={`${title}, table`}
          class="usage stack dense"
          columns={[title.replace("By ", ""), ...COLUMNS]}
        >
          {sorted.map(({ group, sum }) => (
            <UsageRow
              name={grouping.nameOf(group)}
              share={total.microcents <= 0 ? 0 : Math.max(0, sum.microcents) / total.microcents}
              sum={sum}
              format={(microcents) => formatAmount(microcents, currency, decimals)}
            />
          ))}
          <UsageRow
            name="all"
            share={null}
            sum={total}
            format={(microcents) => formatAmount(microcents, currency, decimals)}
          />
        </Table>
      )}
    </section>
  );
}

/** Of sums; a single request's cost is shown to its last digit on its own page. */
const MOST_DECIMALS = 4;

/** Cents are enough. */
function isLarge(microcents: number): boolean {
  return microcents === 0 || Math.abs(microcents) >= 100 * MICROCENTS_PER_CENT;
}

interface UsageRowProps {
  readonly name: string;
  /** Of the whole, 0 to 1; null for the whole itself. */
  readonly share: number | null;
  readonly sum: ReturnType<typeof addUp>;
  readonly format: (microcents: number) => string;
}

function UsageRow({ name, share, sum, format }: UsageRowProps) {
  return (
    <tr class={share === null ? "total" : undefined}>
      <th scope="row">
        <bdi title={name}>{name}</bdi>
      </th>
      <Cell label="share" kind="wide">
        {share === null ? "" : <ShareBar share={share} label={`${name}: share of the cost`} />}
      </Cell>
      <NumberCells
        figures={{
          requests: formatCount(sum.requests),
          input: formatCount(sum.inputTokens),
          cached: formatCount(sum.cachedInputTokens),
          output: formatCount(sum.outputTokens),
          cost: format(sum.microcents),
        }}
      />
    </tr>
  );
}

interface OfRowsProps {
  readonly rows: readonly UsageRowView[];
  readonly currency: string;
}

/** @param names Key id → name. */
export function UsageByKey({ names, ...rest }: OfRowsProps & { names: ReadonlyMap<string, string> }) {
  return <UsageTable id="by-key" title="By key" grouping={groupByKey(names)} {...rest} />;
}

export function UsageByModel(props: OfRowsProps) {
  return <UsageTable id="by-model" title="By model" grouping={GROUP_BY_MODEL} {...props} />;
}
