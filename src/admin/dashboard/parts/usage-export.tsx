/** @jsxImportSource hono/jsx */
import { monthAt, monthsBackFrom } from "../../../calendar.ts";
import { monthName } from "../../format.ts";
import type { OrganizationPageCall } from "../page.ts";

/** As many as the longest retention that is offered by default. */
const MONTHS_BACK = 12;

/** A month's usage as a file, for finance tools. */
export function UsageExport({ page }: { page: OrganizationPageCall }) {
  const months = monthsBackFrom(monthAt(page.nowMs), MONTHS_BACK).map(({ name }) => name);
  return (
    <section aria-labelledby="export">
      <h2 id="export">Export</h2>
      <p class="quiet">A whole month by day, key, model and tags, to the last digit.</p>
      <form method="get" action={`${page.base}/usage/export`} class="filters" aria-label="Export a month">
        <div>
          <label for="export-month">Month</label>
          <select id="export-month" name="month">
            {months.map((month) => (
              <option value={month}>{monthName(month)}</option>
            ))}
          </select>
        </div>
        <div>
          <label for="export-format">Format</label>
          <select id="export-format" name="format">
            <option value="csv">CSV</option>
            <option value="jsonl">JSON lines</option>
            <option value="focus">FOCUS 1.2</option>
          </select>
        </div>
        <div class="buttons">
          <button type="submit" class="quiet">
            Export
          </button>
        </div>
      </form>
    </section>
  );
}
