/** Filter of requests; its values stay in the URL. */
import type { OrganizationPageCall } from "../page.ts";
import { Choice, DayField, OwnerField, TextField } from "./filter-fields.tsx";
import type { RequestView } from "../views.ts";

/** Names as in the API. */
const REQUEST_FILTERS = [
  "key_id",
  "user_id",
  "group_id",
  "model",
  "upstream",
  "status",
  "tag",
  "session",
  "from",
  "to",
  "id",
] as const;

const STATUSES = ["2xx", "4xx", "5xx", "hard_cap_reached", "rate_limit_exceeded", "upstream_error"] as const;

/** Reads the filter from the URL. */
export function requestFiltersOf(page: OrganizationPageCall): Record<string, string> {
  return Object.fromEntries(
    REQUEST_FILTERS.flatMap((name) => {
      const value = (page.query.get(name) ?? "").trim();
      return value === "" ? [] : [[name, value]];
    }),
  );
}

/** Returns the path of all requests of a session. @param base Start of the organization's paths. */
export function sessionPath(base: string, name: string): string {
  return `${base}/requests?${new URLSearchParams({ session: name }).toString()}`;
}

interface RequestFiltersProps {
  /** Start of the organization's paths. */
  readonly base: string;
  /** Values for people, see `OwnerField`. */
  readonly filters: Readonly<Record<string, string>>;
  /** Names by id. */
  readonly keys: ReadonlyMap<string, string>;
  readonly models: readonly string[];
  /** Suggested upstreams: any other may be typed. */
  readonly upstreams: readonly string[];
}

export function RequestFilters({ base, filters, keys, models, upstreams }: RequestFiltersProps) {
  const path = `${base}/requests`;
  const given = (name: string): string => filters[name] ?? "";
  return (
    <form method="get" action={path} class="filters" role="search" aria-label="Filter requests">
      <Choice name="key_id" label="Key" value={given("key_id")} choices={keys} />
      <OwnerField kind="user" label="User" value={given("user_id")} base={base} />
      <OwnerField kind="group" label="Group" value={given("group_id")} base={base} />
      <Choice
        name="model"
        label="Model"
        value={given("model")}
        choices={new Map(models.map((id) => [id, id]))}
      />
      <TextField
        name="upstream"
        label="Upstream"
        value={given("upstream")}
        placeholder="its name"
        suggestions={upstreams}
      />
      <TextField
        name="status"
        label="Status or code"
        value={given("status")}
        placeholder="402, 5xx, …"
        suggestions={STATUSES}
      />
      <TextField name="tag" label="Tag" value={given("tag")} placeholder="team=search" />
      <TextField name="session" label="Session" value={given("session")} placeholder="its whole name" />
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

/** Formats "402 hard_cap_reached". */
export function RequestStatus({ request }: { request: Pick<RequestView, "status" | "error_code"> }) {
  const { status, error_code: code } = request;
  const level = status === null || status >= 400 || code !== null ? "bad" : "good";
  return (
    <span class={`state ${level}`}>
      {status ?? (code === null ? "lost" : null)}
      {status === null || code === null ? null : " "}
      {code === null ? null : <Breakable word={code} />}
    </span>
  );
}

/** Allows line breaks after underscores, since codes are long. */
function Breakable({ word }: { word: string }) {
  const [first = "", ...rest] = word.split("_");
  return (
    <>
      {first}
      {rest.map((part) => (
        <>
          _<wbr />
          {part}
        </>
      ))}
    </>
  );
}
