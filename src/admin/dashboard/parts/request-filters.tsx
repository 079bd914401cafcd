/** @jsxImportSource hono/jsx */
/** Which requests are shown: fields whose values stay in the address. */
import type { OrganizationPageCall } from "../page.ts";

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
  const named = new Map(keys);
  const key = given("key_id");
  if (key !== "" && !named.has(key)) named.set(key, key);
  return (
    <form method="get" action={path} class="filters" role="search" aria-label="Filter requests">
      <Choice name="key_id" label="Key" value={key} choices={[...named]} />
      <Choice
        name="model"
        label="Model"
        value={given("model")}
        choices={[...new Set([...models, given("model")])].filter(Boolean).map((id) => [id, id] as const)}
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

interface ChoiceProps {
  readonly name: string;
  readonly label: string;
  readonly value: string;
  /** Value and what it is called. */
  readonly choices: readonly (readonly [value: string, label: string])[];
}

/** One of some, or all. */
export function Choice({ name, label, value, choices }: ChoiceProps) {
  return (
    <div>
      <label for={name}>{label}</label>
      <select id={name} name={name}>
        <option value="">all</option>
        {choices.map(([id, text]) => (
          <option value={id} selected={id === value}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}

interface TextFieldProps {
  readonly name: string;
  readonly label: string;
  readonly value: string;
  readonly placeholder: string;
}

export function TextField({ name, label, value, placeholder }: TextFieldProps) {
  return (
    <div>
      <label for={name}>{label}</label>
      <input id={name} name={name} value={value} placeholder={placeholder} autocomplete="off" />
    </div>
  );
}

/** A UTC day. */
export function DayField({ name, label, value }: { name: string; label: string; value: string }) {
  return (
    <div>
      <label for={name}>{label}</label>
      <input id={name} name={name} type="date" value={value.slice(0, "2026-11-21".length)} />
    </div>
  );
}
