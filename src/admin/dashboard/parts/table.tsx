/** @jsxImportSource hono/jsx */
import type { Child } from "hono/jsx";

/** `number`: set to the right. `wide`: a column that a bar is drawn in. */
export type Column = string | { readonly label: string; readonly kind?: "number" | "wide" };

interface TableProps {
  /** For who hears the page. */
  readonly label: string;
  readonly columns: readonly Column[];
  readonly class?: string;
  /** The rows. */
  readonly children?: Child;
}

interface CellProps {
  /** Its column, which stands before it where rows are stacked. */
  readonly label: string;
  readonly kind?: "number" | "wide";
  readonly title?: string;
  readonly children?: Child;
}

/** A cell of a table of the class `stack`: on a phone each row is a card, and nothing of it is hidden. */
export function Cell({ label, kind, title, children }: CellProps) {
  return (
    <td class={kind} data-label={label} title={title}>
      <span>{children}</span>
    </td>
  );
}

/** A table that scrolls sideways by itself where the screen is too narrow, with the keyboard too. */
export function Table({ label, columns, class: className, children }: TableProps) {
  return (
    <div class="scroll" tabindex={0} role="region" aria-label={label}>
      <table class={className}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th scope="col" class={typeof column === "string" ? undefined : column.kind}>
                {typeof column === "string" ? column : column.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

/** A column of a `RowTable`: its header, and what stands in it of each row. */
interface ColumnOf<Row> {
  readonly label: string;
  /** What stands before a cell where rows are stacked; the label when left out. */
  readonly short?: string;
  readonly kind?: "number" | "wide";
  /** A cell's whole text, where it may be cut. */
  readonly title?: (row: Row) => string;
  readonly cell: (row: Row) => Child;
}

/** The first one says what the row is about. */
export type RowTableColumns<Row> = readonly [ColumnOf<Row>, ...ColumnOf<Row>[]];

export interface RowTableProps<Row> extends Omit<TableProps, "columns" | "children"> {
  readonly columns: RowTableColumns<Row>;
  readonly rows: readonly Row[];
  readonly classOf?: (row: Row) => string | undefined;
  /** What is said where there are no rows. Left out: the table stands there without. */
  readonly empty?: Child;
}

/** A table of one row for each of some things. */
export function RowTable<Row>({ columns, rows, classOf, empty, ...table }: RowTableProps<Row>) {
  if (rows.length === 0 && empty !== undefined) return <p class="card empty">{empty}</p>;
  const [head, ...others] = columns;
  return (
    <Table {...table} columns={columns}>
      {rows.map((row) => (
        <tr class={classOf?.(row)}>
          <th scope="row">{head.cell(row)}</th>
          {others.map(({ label, short = label, kind, title, cell }) => (
            <Cell label={short} {...(kind && { kind })} {...(title && { title: title(row) })}>
              {cell(row)}
            </Cell>
          ))}
        </tr>
      ))}
    </Table>
  );
}
