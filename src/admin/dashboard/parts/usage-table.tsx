/** @jsxImportSource hono/jsx */
import { formatCount, formatMoney } from "../../format.ts";
import type { UsageRowView, UsageView } from "../views.ts";
import { ShareBar } from "./charts.tsx";
import { Table } from "./table.tsx";

const COLUMNS = [
  { label: "share", kind: "wide" },
  { label: "requests", kind: "number" },
  { label: "tokens", kind: "number" },
  { label: "cost", kind: "number" },
] as const;

/** Of no key, of no model. */
const CORRECTIONS = "spend corrections";

interface UsageTableProps {
  readonly id: string;
  readonly title: string;
  readonly rows: readonly UsageRowView[];
  readonly currency: string;
  readonly nameOf: (row: UsageRowView) => string;
  /** Days stay in their order; everything else comes with the dearest first. */
  readonly inOrder?: boolean;
}

/** Usage by one group, with a bar for each row. */
export function UsageTable({ id, title, rows, currency, nameOf, inOrder = false }: UsageTableProps) {
  const sorted = inOrder
    ? rows
    : [...rows].sort((left, right) => right.cost_microcents - left.cost_microcents);
  const maximum = Math.max(0, ...rows.map((row) => row.cost_microcents));
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {rows.length === 0 ? (
        <p class="quiet">Nothing in this month.</p>
      ) : (
        <Table label={`${title}, table`} class="usage" columns={[title.replace("By ", ""), ...COLUMNS]}>
          {sorted.map((row) => (
            <UsageRow row={row} name={nameOf(row)} maximum={maximum} currency={currency} />
          ))}
        </Table>
      )}
    </section>
  );
}

function UsageRow(props: { row: UsageRowView; name: string; maximum: number; currency: string }) {
  const { row, name, maximum, currency } = props;
  const cost = formatMoney(row.cost_microcents, currency);
  const tokens = row.input_tokens + row.cached_input_tokens + row.output_tokens;
  const detail = `${formatCount(row.input_tokens)} input, ${formatCount(row.cached_input_tokens)} cached, ${formatCount(row.output_tokens)} output`;
  return (
    <tr>
      <th scope="row">
        <bdi title={name}>{name}</bdi>
      </th>
      <td class="wide">
        <ShareBar value={row.cost_microcents} maximum={maximum} label={`${name}: ${cost}`} />
      </td>
      <td class="number">{formatCount(row.requests)}</td>
      <td class="number" title={detail}>
        {formatCount(tokens)}
      </td>
      <td class="number">{cost}</td>
    </tr>
  );
}

interface OfMonthProps {
  readonly usage: UsageView;
}

export function UsageByKey({ usage, names }: OfMonthProps & { readonly names: ReadonlyMap<string, string> }) {
  return (
    <UsageTable
      id="by-key"
      title="By key"
      rows={usage.data}
      currency={usage.currency}
      nameOf={(row) => names.get(row.key_id ?? "") ?? row.key_id ?? CORRECTIONS}
    />
  );
}

export function UsageByModel({ usage }: OfMonthProps) {
  return (
    <UsageTable
      id="by-model"
      title="By model"
      rows={usage.data}
      currency={usage.currency}
      nameOf={(row) => row.model ?? CORRECTIONS}
    />
  );
}
