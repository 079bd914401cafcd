import type { Child } from "hono/jsx";
import type { PageCall } from "../page.ts";
import { ConfirmedForm, type ConfirmedProps } from "./fields.tsx";

/** `number`: right-aligned. `wide`: contains a bar. `rest`: hidden if a table has no room. `main`: shown on a phone. */
export type ColumnKind = "number" | "wide" | "rest" | "number rest" | "main" | "number main";
export type Column = string | HeadedColumn;

interface HeadedColumn {
  readonly label: string;
  readonly kind?: ColumnKind;
  /** Leads to the list sorted by this column. */
  readonly href?: string;
  /** The list is sorted by this column. */
  readonly sorted?: "ascending" | "descending";
}

interface TableProps {
  /** Label for screen readers. */
  readonly label: string;
  readonly columns: readonly Column[];
  readonly class?: string;
  /** Rows. */
  readonly children?: Child;
}

interface CellProps {
  /** Label of its column, shown before the cell if rows are stacked. */
  readonly label: string;
  readonly kind?: ColumnKind;
  readonly title?: string;
  readonly children?: Child;
}

/** Cell of a table with class `stack`: on a phone each row is a card, with nothing hidden. */
export function Cell({ label, kind, title, children }: CellProps) {
  return (
    <td class={kind} data-label={label} title={title}>
      <span>{children}</span>
    </td>
  );
}

/** Table that scrolls horizontally on narrow screens, also by keyboard. */
export function Table({ label, columns, class: className, children }: TableProps) {
  return (
    <div class="scroll" tabindex={0} role="region" aria-label={label}>
      <table class={className}>
        <thead>
          <tr>
            {columns.map((column) => (
              <Head column={typeof column === "string" ? { label: column } : column} />
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

function Head({ column: { label, kind, href, sorted } }: { column: HeadedColumn }) {
  return (
    <th scope="col" class={kind} aria-sort={sorted}>
      {href === undefined ? label : <a href={href}>{label}</a>}
    </th>
  );
}

/** Column of a `RowTable`: its header and cells. */
interface ColumnOf<Row> extends HeadedColumn {
  /** API name of this order of a list. Omitted: not sortable. */
  readonly sort?: string;
  /** Label of a cell if rows are stacked. Default: the header. */
  readonly short?: string;
  /** Full text of a cell that may be cut. */
  readonly title?: (row: Row) => string;
  readonly cell: (row: Row) => Child;
}

/** The first column identifies the row. */
export type RowTableColumns<Row> = readonly [ColumnOf<Row>, ...ColumnOf<Row>[]];

export interface RowTableProps<Row> extends Omit<TableProps, "columns" | "children"> {
  readonly columns: RowTableColumns<Row>;
  readonly rows: readonly Row[];
  readonly classOf?: (row: Row) => string | undefined;
  /** Heading of rows that follow each other. Omitted: no headings. */
  readonly groupOf?: (row: Row) => string;
  /** Text without rows. Omitted: an empty table. */
  readonly empty?: Child;
  /** Name of the boxes that choose rows. Omitted: no boxes. */
  readonly chosen?: string | undefined;
}

/** Table with one row per item. */
export function RowTable<Row>(props: RowTableProps<Row>) {
  const { columns, rows, classOf, groupOf, empty, chosen, ...table } = props;
  if (rows.length === 0 && empty !== undefined) return <p class="card empty">{empty}</p>;
  const [head, ...rest] = columns;
  const groups = groupOf === undefined ? [] : rows.map(groupOf);
  return (
    <Table {...table} columns={columns}>
      {rows.map((row, index) => (
        <>
          <GroupHead group={groups[index]} before={groups[index - 1]} span={columns.length} />
          <tr class={classOf?.(row)}>
            <th scope="row" title={head.title?.(row)}>
              {chosen === undefined ? null : <Box name={chosen} of={row as ChosenRow} />}
              {head.cell(row)}
            </th>
            {rest.map(({ label, short = label, kind, title, cell }) => (
              <Cell label={short} {...(kind && { kind })} {...(title && { title: title(row) })}>
                {cell(row)}
              </Cell>
            ))}
          </tr>
        </>
      ))}
    </Table>
  );
}

interface GroupHeadProps {
  readonly group: string | undefined;
  /** Group of the row before. */
  readonly before: string | undefined;
  readonly span: number;
}

function GroupHead({ group, before, span }: GroupHeadProps) {
  if (group === undefined || group === before) return null;
  return (
    <tr class="group">
      <th scope="rowgroup" colspan={span}>
        {group}
      </th>
    </tr>
  );
}

interface ChosenRow {
  readonly id: string;
  readonly name: string;
}

function Box({ name, of }: { name: string; of: ChosenRow }) {
  return <input type="checkbox" name={name} value={of.id} aria-label={`Choose ${of.name}`} />;
}

/** Last column of a list for authorized users: a button that deletes the row's item. */
export function endColumn<Row>(page: PageCall, endOf: (row: Row) => Omit<ConfirmedProps, "page">) {
  const cell = (row: Row) => <ConfirmedForm page={page} {...endOf(row)} />;
  return page.canChange ? [{ label: "end", cell }] : [];
}

export const PAGE_SIZE = 50;
const PAGE_LIMIT = String(PAGE_SIZE);
/** Maximum that the API accepts. */
const MAX_SEARCH_CHARACTERS = 100;

/** Returns the page of a list from the URL. */
export function pageQueryOf(page: PageCall): Record<string, string> {
  const after = page.query.get("after");
  return after === null ? { limit: PAGE_LIMIT } : { limit: PAGE_LIMIT, after };
}

/** Returns the search text from the URL; empty: all. */
export function searchOf(page: PageCall): string {
  return (page.query.get("search") ?? "").trim().slice(0, MAX_SEARCH_CHARACTERS);
}

/** Link to the next page of a list, keeping the search. */
export function Older({ page, next }: { page: PageCall; next: string | null }) {
  if (next === null) return null;
  const query = new URLSearchParams(page.query);
  query.delete("done");
  query.delete("live");
  query.set("after", next);
  return (
    <p>
      <a href={`${page.path}?${query.toString()}`}>More</a>
    </p>
  );
}

interface ListProps<Row> {
  readonly page: PageCall;
  /** Label for screen readers. */
  readonly label: string;
  readonly list: { readonly data: readonly Row[]; readonly next: string | null };
  readonly columns: RowTableColumns<Row>;
  /** Text of an empty list. */
  readonly empty: Child;
  readonly class?: "stack" | "list";
}

/** Page of a list, with a link to the next. */
export function List<Row>(props: ListProps<Row>) {
  const { page, label, list, columns, empty, class: className = "stack" } = props;
  const { data, next } = list;
  return (
    <>
      <RowTable label={label} class={className} columns={columns} rows={data} empty={empty} />
      <Older page={page} next={next} />
    </>
  );
}
