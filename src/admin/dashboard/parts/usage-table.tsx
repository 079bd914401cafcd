/** @jsxImportSource hono/jsx */
import { formatCount, formatMoney } from "../format.ts";
import type { UsageRowView } from "../views.ts";
import { ShareBar } from "./charts.tsx";

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
        <div class="scroll" tabindex={0} role="region" aria-label={`${title}, table`}>
          <table class="usage">
            <thead>
              <tr>
                <th scope="col">{title.replace("By ", "")}</th>
                <th scope="col" class="wide">
                  share
                </th>
                <th scope="col" class="number">
                  requests
                </th>
                <th scope="col" class="number">
                  tokens
                </th>
                <th scope="col" class="number">
                  cost
                </th>
              </tr>
            </thead>
            <tbody>
              {sorted.map((row) => (
                <UsageRow row={row} name={nameOf(row)} maximum={maximum} currency={currency} />
              ))}
            </tbody>
          </table>
        </div>
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
      <th scope="row">{name}</th>
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
