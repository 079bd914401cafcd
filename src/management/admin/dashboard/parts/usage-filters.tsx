/** Filter of the usage by days, owner and model, in the URL. */
import { dayAt, monthAt, monthsBackFrom } from "../../../../shared/time/calendar.ts";
import { addDays, type DayRange } from "../../../../shared/time/day-range.ts";
import type { OrganizationPageCall } from "../page.ts";
import {
  addressOf,
  LATENCY,
  tagOf,
  USAGE_GROUPS,
  USAGE_METRICS,
  USAGE_UNITS,
  type UsageChoice,
} from "../usage-choice.ts";
import { Choice, DayField, OwnerField, TextField } from "./filter-fields.tsx";
import { monthName } from "../../format.ts";
import type { ExportFormatName } from "../../usage-export/export-formats.ts";
import { Section } from "./layout.tsx";

interface UsageFiltersProps {
  readonly page: OrganizationPageCall;
  /** Users and groups as people read them, see `OwnerField`. */
  readonly choice: UsageChoice;
  /** Names by id. */
  readonly keys: ReadonlyMap<string, string>;
  /** Ids, including models that left the catalog; null for none. */
  readonly models: readonly (string | null)[];
  /** Names of the tags in these days. */
  readonly tags: readonly string[];
}

export function UsageFilters({ page, choice, keys, models, tags }: UsageFiltersProps) {
  const path = `${page.base}/usage`;
  const { range, unit, by, metric, filters } = choice;
  const sums = Object.entries(USAGE_METRICS).map(([name, { label }]) => [name, label] as const);
  const metrics = [...sums, [LATENCY, "Latency"] as const];
  return (
    <>
      <p class="presets">
        {listPresets(page.nowMs).map(({ label, from, to }) => (
          <a
            href={`${path}?${addressOf({ ...choice, range: { from, to } })}`}
            aria-current={from === range.from && to === range.to ? "true" : undefined}
          >
            {label}
          </a>
        ))}
      </p>
      <form method="get" action={path} class="filters" aria-label="What is shown">
        <DayField name="from" label="From" value={range.from} />
        <DayField name="to" label="To" value={range.to} />
        <Choice name="unit" label="Column" value={unit} choices={nameThemselves(USAGE_UNITS)} required />
        <Choice name="by" label="Grouped by" value={by} choices={nameGroups([by, ...tags])} required />
        <Choice name="metric" label="Figure" value={metric} choices={new Map(metrics)} required />
        <Choice name="key_id" label="Key" value={filters.key_id} choices={keys} />
        <OwnerField kind="user" label="User" value={filters.user_id} base={page.base} />
        <OwnerField kind="group" label="Group" value={filters.group_id} base={page.base} />
        <Choice name="model" label="Model" value={filters.model} choices={nameThemselves(models)} />
        <TextField name="tag" label="Tag" value={filters.tag} placeholder="team=search" />
        <TextField name="session" label="Session" value={filters.session} placeholder="full name" />
        <div class="buttons">
          <button type="submit">Show</button>
          <a href={`${path}.csv?${addressOf(choice)}`}>Download CSV</a>
          <a href={`${page.base}/requests?${requestsQuery(choice)}`}>Requests</a>
        </div>
      </form>
    </>
  );
}

/** Returns the query of *Requests* for the same days and filters. */
function requestsQuery({ range, filters }: UsageChoice): string {
  const given = Object.entries({ ...range, ...filters }).filter(([, value]) => value !== "");
  return new URLSearchParams(given).toString();
}

/** @param others Names of tags, and what is chosen. */
function nameGroups([chosen = "", ...tags]: readonly string[]): ReadonlyMap<string, string> {
  const names = [...new Set([tagOf(chosen), ...tags])].filter((name) => name !== null);
  return new Map([
    ...USAGE_GROUPS.map((group) => [group, group] as const),
    ...names.map((name) => [`tag:${name}`, `tag ${name}`] as const),
  ]);
}

function nameThemselves(values: readonly (string | null)[]): ReadonlyMap<string, string> {
  return new Map(values.flatMap((value) => (value === null ? [] : [[value, value]])));
}

function listPresets(nowMs: number): readonly (DayRange & { readonly label: string })[] {
  const today = dayAt(nowMs).name;
  const month = monthAt(nowMs);
  const last = monthsBackFrom(month, 1)[1] ?? month;
  return [
    { label: "This month", from: `${month.name}-01`, to: today },
    { label: "Last month", from: `${last.name}-01`, to: addDays(`${month.name}-01`, -1) },
    { label: "Today", from: today, to: today },
    { label: "7 days", from: addDays(today, -6), to: today },
    { label: "28 days", from: addDays(today, -27), to: today },
    { label: "90 days", from: addDays(today, -89), to: today },
    { label: "12 months", from: addDays(today, -364), to: today },
  ];
}

/** Same as the longest default retention. */
const MONTHS_BACK = 12;

const FORMATS: ReadonlyMap<ExportFormatName, string> = new Map([
  ["csv", "CSV"],
  ["jsonl", "JSON lines"],
  ["focus", "FOCUS 1.2"],
]);

/** Link to a month's usage as a file, for finance tools. */
export function UsageExport({ page }: { page: OrganizationPageCall }) {
  const months = monthsBackFrom(monthAt(page.nowMs), MONTHS_BACK).map(
    ({ name }) => [name, monthName(name)] as const,
  );
  return (
    <Section id="export" title="Export">
      <p class="quiet">
        A whole month by day, key, model and tags, with exact amounts. For bookkeeping:{" "}
        <a href={`${page.base}/statement`}>statement of a month</a>.
      </p>
      <form method="get" action={`${page.base}/usage/export`} class="filters" aria-label="Export a month">
        <Choice name="month" label="Month" value="" choices={new Map(months)} required />
        <Choice name="format" label="Format" value="" choices={FORMATS} required />
        <div class="buttons">
          <button type="submit" class="quiet">
            Export
          </button>
        </div>
      </form>
    </Section>
  );
}
