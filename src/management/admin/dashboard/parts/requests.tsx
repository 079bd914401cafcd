/** Form that filters requests, and their status. */
import { formatCount } from "../../format.ts";
import type { PageCall } from "../page.ts";
import { addressOf, LAST, type RequestChoice, type RequestFilterName } from "../request-choice.ts";
import type { RequestCountsView } from "../views.ts";
import { Choice, TextField, TimeField } from "./filter-fields.tsx";
import { REQUEST_COLUMNS, shownColumns } from "./request-columns.tsx";

type ValuesView = RequestCountsView["values"];

interface RequestFiltersProps {
  readonly path: string;
  readonly choice: RequestChoice;
  /** Values among the requests shown. */
  readonly values: ValuesView;
  /** Names of chosen keys, users and groups by id. */
  readonly names: Readonly<Record<string, string>>;
  readonly models: readonly string[];
  /** True if the requests are of one user or key. */
  readonly isOwn: boolean;
}

interface ChoiceOfValues {
  readonly name: keyof ValuesView;
  readonly label: string;
  readonly isOmittedFromOwn?: true;
  /** True if it is offered also without a value. */
  readonly isFirst?: true;
}

const CHOICES: readonly ChoiceOfValues[] = [
  { name: "status", label: "Status", isFirst: true },
  { name: "model", label: "Model", isFirst: true },
  { name: "key_id", label: "Key", isFirst: true },
  { name: "user_id", label: "User", isOmittedFromOwn: true },
  { name: "group_id", label: "Group", isOmittedFromOwn: true },
  { name: "upstream", label: "Upstream" },
  { name: "tag", label: "Tag" },
  { name: "session", label: "Session" },
];

const STATUSES = [
  ["2xx", "succeeded (2xx)"],
  ["4xx", "rejected (4xx)"],
  ["5xx", "failed (5xx)"],
] as const;

export function RequestFilters(props: RequestFiltersProps) {
  const { path, choice, values, isOwn } = props;
  const { filters, last, columns } = choice;
  const isChosen = Object.keys(filters).length > 0 || last !== null;
  return (
    <>
      <p class="presets">
        {Object.entries(LAST).map(([name, { label }]) => (
          <a
            href={addressOf(path, withLast(choice, name as keyof typeof LAST))}
            aria-current={name === last ? "true" : undefined}
          >
            {label}
          </a>
        ))}
        {isChosen ? <a href={addressOf(path, { filters: {}, last: null, columns })}>Show all</a> : null}
      </p>
      <form method="get" action={path} class="filters" role="search" aria-label="Filter requests">
        {last === null ? null : <input type="hidden" name="last" value={last} />}
        {CHOICES.filter(
          ({ name, isFirst, isOmittedFromOwn }) =>
            !(isOwn && isOmittedFromOwn) &&
            (isFirst || values[name].length > 0 || filters[name] !== undefined),
        ).map(({ name, label }) => (
          <Choice name={name} label={label} value={filters[name] ?? ""} choices={choicesOf(props, name)} />
        ))}
        <TimeField name="from" label="From, UTC" value={filters.from ?? ""} />
        <TimeField name="to" label="To, UTC" value={filters.to ?? ""} isEnd />
        <TextField name="id" label="Request id" value={filters.id ?? ""} placeholder="req_… or a part" />
        <ColumnChoice choice={choice} isOwn={isOwn} />
        <div class="buttons">
          <button type="submit">Filter</button>
          <a href={addressOf(`${path}.csv`, { ...choice, columns: null })}>Download CSV</a>
        </div>
      </form>
    </>
  );
}

function withLast(choice: RequestChoice, last: keyof typeof LAST): RequestChoice {
  const { from: _from, to: _to, ...filters } = choice.filters;
  return { ...choice, filters, last };
}

/** Lists values with the number of their requests, then other known ones. */
function choicesOf(
  { values, names, models }: RequestFiltersProps,
  name: keyof ValuesView & RequestFilterName,
): ReadonlyMap<string, string> {
  const counted = values[name].map(({ value, name: called, requests }) => {
    return [value, `${called ?? value} · ${formatCount(requests)}`] as const;
  });
  const known = {
    ...(name === "model" ? Object.fromEntries(models.map((id) => [id, id])) : {}),
    ...(name.endsWith("_id") ? names : {}),
  };
  const first = name === "status" ? STATUSES : [];
  return new Map([
    ...first,
    ...counted,
    ...Object.entries(known).filter(([id]) => !isCounted(values[name], id)),
  ]);
}

function isCounted(values: ValuesView[keyof ValuesView], id: string): boolean {
  return values.some(({ value }) => value === id);
}

/** Boxes of the columns, behind a button. */
function ColumnChoice({ choice, isOwn }: Pick<RequestFiltersProps, "choice" | "isOwn">) {
  const shown = new Set(shownColumns(choice).map(([name]) => name));
  return (
    <details class="columns-choice">
      <summary>Columns</summary>
      <fieldset class="boxes">
        <legend class="hidden">Columns</legend>
        {Object.entries(REQUEST_COLUMNS)
          .filter(([, { isOmittedFromOwn }]) => !(isOwn && isOmittedFromOwn === true))
          .map(([name, { label }]) => (
            <label>
              <input type="checkbox" name="column" value={name} checked={shown.has(name)} /> {label}
            </label>
          ))}
      </fieldset>
    </details>
  );
}

/** Switch for the script, which refreshes the list until paused. */
export function LiveSwitch({ page }: { page: PageCall }) {
  if (page.query.has("after")) return null;
  return (
    <p class="live">
      <button type="button" class="quiet" data-live="requests" aria-pressed="false" hidden>
        Follow live
      </button>{" "}
      <span class="quiet" role="status" id="live-status"></span>
    </p>
  );
}
