/** Tables for spreadsheets: RFC 4180, and nothing in a cell that a spreadsheet would run. */

/** What a cell that is a formula begins with (OWASP, "CSV Injection"), the full-width forms of the signs among it. */
const FORMULA = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;
const SPECIAL = /[",\r\n]/;

/**
 * One line, its line break included. A text that would be a formula gets a `'` before it, which spreadsheets show as the
 * sign that it is a text; numbers stay numbers, negative ones too.
 */
export function formatCsvLine(cells: readonly CsvCell[]): string {
  return `${cells.map(formatCell).join(",")}\r\n`;
}

/** `verbatim`: a number in a notation of its own, such as a decimal with all its places. */
export type CsvCell = string | number | bigint | { readonly verbatim: string };

function formatCell(value: CsvCell): string {
  if (typeof value === "object") return value.verbatim;
  if (typeof value !== "string") return String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return SPECIAL.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
