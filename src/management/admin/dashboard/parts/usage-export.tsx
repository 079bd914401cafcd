import { monthAt, monthsBackFrom } from "../../../../shared/time/calendar.ts";
import { monthName } from "../../format.ts";
import type { ExportFormatName } from "../../usage-export/export-formats.ts";
import type { OrganizationPageCall } from "../page.ts";
import { Choice } from "./filter-fields.tsx";
import { Section } from "./layout.tsx";

/** As many as the longest retention that is offered by default. */
const MONTHS_BACK = 12;

const FORMATS: ReadonlyMap<ExportFormatName, string> = new Map([
  ["csv", "CSV"],
  ["jsonl", "JSON lines"],
  ["focus", "FOCUS 1.2"],
]);

/** A month's usage as a file, for finance tools. */
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
