/** @jsxImportSource hono/jsx */
/** Which requests are shown: fields whose values stay in the address. */
import type { OrganizationPageCall } from "../page.ts";
import { Choice, DayField, TextField } from "./filter-fields.tsx";

/** As the API calls them. */
const REQUEST_FILTERS = ["key_id", "model", "status", "tag", "from", "to", "id"] as const;

/** What the address asks for. */
export function requestFiltersOf(page: OrganizationPageCall): Record<string, string> {
  return Object.fromEntries(
    REQUEST_FILTERS.flatMap((name) => {
      const value = (page.query.get(name) ?? "").trim();
      return value === "" ? [] : [[name, value]];
    }),
  );
}

interface RequestFiltersProps {
  readonly path: string;
  readonly filters: Readonly<Record<string, string>>;
  /** Id → name. */
  readonly keys: ReadonlyMap<string, string>;
  readonly models: readonly string[];
}

export function RequestFilters({ path, filters, keys, models }: RequestFiltersProps) {
  const given = (name: string): string => filters[name] ?? "";
  return (
    <form method="get" action={path} class="filters" role="search" aria-label="Filter requests">
      <Choice name="key_id" label="Key" value={given("key_id")} choices={keys} />
      <Choice
        name="model"
        label="Model"
        value={given("model")}
        choices={new Map(models.map((id) => [id, id]))}
      />
      <div>
        <label for="status">Status or code</label>
        <input
          id="status"
          name="status"
          value={given("status")}
          list="statuses"
          placeholder="402, 5xx, …"
          autocomplete="off"
        />
        <datalist id="statuses">
          {["2xx", "4xx", "5xx", "hard_cap_reached", "rate_limit_exceeded", "upstream_error"].map(
            (status) => (
              <option value={status}></option>
            ),
          )}
        </datalist>
      </div>
      <TextField name="tag" label="Tag" value={given("tag")} placeholder="team=search" />
      <DayField name="from" label="From" value={given("from")} />
      <DayField name="to" label="To" value={given("to")} />
      <TextField name="id" label="Request id" value={given("id")} placeholder="req_… or a part" />
      <div class="buttons">
        <button type="submit">Filter</button>
        {Object.keys(filters).length === 0 ? null : <a href={path}>Show all</a>}
      </div>
    </form>
  );
}
