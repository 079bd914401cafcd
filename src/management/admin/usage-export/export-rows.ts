/** A month's usage as rows for other programs: one for each day, key, its user and group, model and tag combination. */
import { daysOf, type CalendarPeriod } from "../../../shared/time/calendar.ts";
import type { UsageRow } from "../../../shared/stored/reporting.ts";
import type { Store } from "../../../shared/stored/store.ts";
import { type NamesStore, readUsageNames } from "../api/names.ts";
import { formatRowId, type UsageTableRow } from "./usage-table.ts";

/** Usage row with its id, which sorts in export order, and names for people. */
export type ExportRow = UsageRow & UsageTableRow;

/** Rows or names per read: about 200 kB of text, so a slow reader leaves no more than this in memory. */
const BATCH = 500;

/**
 * Iterates over a month's rows in batches, sorted by id; with `after`, those after that row. Reads a day when
 * its first row is needed, so that a whole month is never in memory.
 */
export async function* readExportRows(
  store: Pick<Store, "readUsageOfDay"> & NamesStore,
  organization: ExportRow["organization"],
  { month, after }: { readonly month: CalendarPeriod; readonly after: string | null },
): AsyncGenerator<readonly ExportRow[]> {
  for (const day of daysOf(month)) {
    if (after !== null && day < after.slice(0, day.length)) continue;
    const rows = (await store.readUsageOfDay(organization.id, day))
      .map((row) => ({ ...row, id: formatRowId(row) }))
      .filter(({ id }) => after === null || id > after)
      .sort((left, right) => (left.id < right.id ? -1 : 1));
    for (let start = 0; start < rows.length; start += BATCH) {
      const batch = rows.slice(start, start + BATCH);
      const namesOf = await readUsageNames(store, organization.id, batch);
      yield batch.map((row) => ({ ...row, organization, ...namesOf(row) }));
    }
  }
}
