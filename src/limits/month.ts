/** Calendar months in UTC, as caps and budgets count them. */

/** "2026-11" → the instant at which the next month begins, RFC 3339. */
export function formatResetsAt(month: string): string {
  const [year, number] = parseMonth(month);
  // Date.UTC counts months from 0, so the number of this month is the index of the next.
  return new Date(Date.UTC(year, number)).toISOString().replace(".000Z", "Z");
}

/** "2026-11" → "November 2026". */
export function formatMonthName(month: string): string {
  const [year, number] = parseMonth(month);
  const date = new Date(Date.UTC(year, number - 1));
  return date.toLocaleString("en-US", { month: "long", year: "numeric", timeZone: "UTC" });
}

function parseMonth(month: string): [year: number, number: number] {
  return [Number(month.slice(0, 4)), Number(month.slice(5, 7))];
}
