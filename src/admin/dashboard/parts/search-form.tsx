/** @jsxImportSource hono/jsx */
interface SearchFormProps {
  /** The list's own path. */
  readonly path: string;
  /** Empty: all are shown. */
  readonly search: string;
}

/** A list that is shorter needs none. */
export const SEARCHED_FROM = 15;

/** Narrows a list down to what has a text in its name. */
export function SearchForm({ path, search }: SearchFormProps) {
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
