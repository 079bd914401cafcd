/** @jsxImportSource hono/jsx */
/** Lists that come page by page, and that are searched. */
import type { Child } from "hono/jsx";
import type { PageCall } from "../page.ts";
import { RowTable, type RowTableColumns } from "./table.tsx";

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
