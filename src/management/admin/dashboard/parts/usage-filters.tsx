/** Filter of the usage by days, key and model, in the URL. */
import { monthAt, monthsBackFrom } from "../../../../shared/time/calendar.ts";
import type { OrganizationPageCall } from "../page.ts";
import { addDays, type DayRange, parseRange } from "../usage-range.ts";
import { Choice, DayField, TextField } from "./filter-fields.tsx";
import { monthName } from "../../format.ts";
import type { ExportFormatName } from "../../usage-export/export-formats.ts";
import { Section } from "./layout.tsx";

export interface UsageFilterValues {
  readonly range: DayRange;
  /** Id; empty: all. */
  readonly key: string;
  readonly model: string;
  /** "team=search"; empty: all. */
  readonly tag: string;
  /** Name of a tag for stacking the columns, in place of `by`; empty: none. */
  readonly byTag: string;
  /** Grouping of the columns' parts. */
  readonly by: "key" | "model";
}

export function readUsageFilters({ query, nowMs }: OrganizationPageCall): UsageFilterValues {
  return {
    range: parseRange(query.get("from"), query.get("to"), nowMs),
    key: query.get("key") ?? "",
    model: query.get("model") ?? "",
    tag: (query.get("tag") ?? "").trim(),
    byTag: (query.get("by_tag") ?? "").trim(),
    by: query.get("by") === "model" ? "model" : "key",
  };
}

interface UsageFiltersProps {
  readonly page: OrganizationPageCall;
  readonly filters: UsageFilterValues;
  /** Names by id. */
  readonly keys: ReadonlyMap<string, string>;
  /** Ids, including models that left the catalog; null for none. */
  readonly models: readonly (string | null)[];
}

export function UsageFilters({ page, filters, keys, models }: UsageFiltersProps) {
  const path = `${page.base}/usage`;
  const { range, key, model, tag, byTag, by } = filters;
  return (
    <>
      <p class="presets">
        {listPresets(page.nowMs).map(({ label, from, to }) => (
          <a
            href={`${path}?${addressOf({ ...filters, range: { from, to } })}`}
            aria-current={from === range.from && to === range.to ? "true" : undefined}
          >
            {label}
          </a>
        ))}
      </p>
      <form method="get" action={path} class="filters" aria-label="What is shown">
        <DayField name="from" label="From" value={range.from} />
        <DayField name="to" label="To" value={range.to} />
        <Choice name="key" label="Key" value={key} choices={keys} />
        <Choice name="model" label="Model" value={model} choices={nameThemselves(models)} />
        <Choice name="by" label="Stacked by" value={by} choices={nameThemselves(["key", "model"])} required />
        <TextField name="tag" label="Tag" value={tag} placeholder="team=search" />
        <TextField name="by_tag" label="Stacked by tag" value={byTag} placeholder="team" />
        <div class="buttons">
          <button type="submit">Show</button>
          <a href={`${path}.csv?${addressOf(filters)}`}>Download CSV</a>
        </div>
      </form>
    </>
  );
}

function nameThemselves(values: readonly (string | null)[]): ReadonlyMap<string, string> {
  return new Map(values.flatMap((value) => (value === null ? [] : [[value, value]])));
}

function addressOf({ range, key, model, tag, byTag, by }: UsageFilterValues): string {
  const values = { from: range.from, to: range.to, key, model, tag, by, by_tag: byTag };
  return new URLSearchParams(Object.entries(values).filter(([, value]) => value !== "")).toString();
}

function listPresets(nowMs: number): readonly (DayRange & { readonly label: string })[] {
  const today = new Date(nowMs).toISOString().slice(0, "2026-11-21".length);
  const month = monthAt(nowMs);
  const last = monthsBackFrom(month, 1)[1] ?? month;
  return [
    { label: "This month", from: `${month.name}-01`, to: today },
    { label: "Last month", from: `${last.name}-01`, to: addDays(`${month.name}-01`, -1) },
    { label: "7 days", from: addDays(today, -6), to: today },
    { label: "30 days", from: addDays(today, -29), to: today },
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
      <p class="quiet">A whole month by day, key, model and tags, to the last digit.</p>
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
