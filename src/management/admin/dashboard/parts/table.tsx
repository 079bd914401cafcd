import type { Child } from "hono/jsx";
import type { PageCall } from "../page.ts";
import { ConfirmedForm, type ConfirmedProps } from "./fields.tsx";

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

/** A list's last column, for who may: a button that ends what the row is about. */
export function endColumn<Row>(page: PageCall, endOf: (row: Row) => Omit<ConfirmedProps, "page">) {
  const cell = (row: Row) => <ConfirmedForm page={page} {...endOf(row)} />;
  return page.canChange ? [{ label: "end", cell }] : [];
}

const PAGE_LIMIT = "50";
/** A list that is shorter needs no search. */
const SEARCHED_FROM = 15;
/** What the API takes. */
const MAX_SEARCH_CHARACTERS = 100;

/** Which page of a list the address asks for. */
export function pageQueryOf(page: PageCall): Record<string, string> {
  const after = page.query.get("after");
  return after === null ? { limit: PAGE_LIMIT } : { limit: PAGE_LIMIT, after };
}

/** What the address searches for; empty: all. */
export function searchOf(page: PageCall): string {
  return (page.query.get("search") ?? "").trim().slice(0, MAX_SEARCH_CHARACTERS);
}

/** The same page, of what is searched for. */
export function searchQueryOf(page: PageCall): Record<string, string> {
  const search = searchOf(page);
  return { ...pageQueryOf(page), ...(search === "" ? {} : { search }) };
}

/** The link to what comes after this page of a list. What is searched for goes with it. */
export function Older({ page, next }: { page: PageCall; next: string | null }) {
  if (next === null) return null;
  const query = new URLSearchParams(page.query);
  query.delete("done");
  query.set("after", next);
  return (
    <p>
      <a href={`${page.path}?${query.toString()}`}>More</a>
    </p>
  );
}

interface ListProps<Row> {
  readonly page: PageCall;
  /** For who hears the page. */
  readonly label: string;
  readonly list: { readonly data: readonly Row[]; readonly next: string | null };
  readonly columns: RowTableColumns<Row>;
  /** What is said where there is nothing. */
  readonly empty: Child;
}

/** One page of a list, with the way to the next. */
export function List<Row>({ page, label, list: { data, next }, columns, empty }: ListProps<Row>) {
  return (
    <>
      <RowTable label={label} class="stack" columns={columns} rows={data} empty={empty} />
      <Older page={page} next={next} />
    </>
  );
}

interface SearchFormProps extends Pick<ListProps<unknown>, "page" | "list"> {
  /** The list's own path. */
  readonly path: string;
}

/** Narrows a list down to what has a text in its name, where there is more of it than is seen at once. */
export function SearchForm({ page, list: { data, next }, path }: SearchFormProps) {
  const search = searchOf(page);
  const isWhole = search === "" && next === null && !page.query.has("after");
  if (isWhole && data.length < SEARCHED_FROM) return null;
  return (
    <form method="get" action={path} class="inline" role="search">
      <label for="search">Find</label>
      <input id="search" name="search" type="search" value={search} autocomplete="off" />
      <button type="submit" class="quiet">
        Search
      </button>
      {search === "" ? null : <a href={path}>Show all</a>}
    </form>
  );
}
