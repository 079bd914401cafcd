/** A month's usage, row by row, for other programs: one row for each day, key, its user and group, model and combination of tags. */
import { daysOf, type CalendarPeriod } from "../../../shared/time/calendar.ts";
import type { UsageRow } from "../../../data-path/store/types/reporting.ts";
import type { Store } from "../../../data-path/store/types.ts";
import { type NamesStore, readUsageNames } from "../api/names.ts";
import { formatRowId, type UsageTableRow } from "./usage-table.ts";

/** A row of usage, its id in the order of the export, with the names that people know its parts by. */
export type ExportRow = UsageRow & UsageTableRow;

/** Rows at a time, and names: some 200 kB of text, so that a slow reader holds no more than that back. */
const BATCH = 500;

/**
 * All rows of a month in the order of their ids, in batches; those behind `after`, the id of a row, when it is given. A day
 * is read when its first row is asked for: nobody holds a whole month.
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
