/** Text for people at a terminal. */

/** A value of an answer; `none` for null. */
export function formatValue(value: unknown, none = "-"): string {
  if (value === null || value === undefined) return none;
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Columns under their headers, two blanks between; numbers stand to the right. */
export function formatTable(headers: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [headers, ...rows];
  const widths = headers.map((_, column) => Math.max(...lines.map((line) => widthOf(line[column] ?? ""))));
  const isNumeric = headers.map(
    (_, column) => rows.length > 0 && rows.every((row) => /^-?[\d.]+(?: [A-Z]{3})?$/.test(row[column] ?? "")),
  );
  return lines
    .map((line) =>
      line
        .map((cell, column) => pad(cell, widths[column] ?? 0, isNumeric[column] === true))
        .join("  ")
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join("");
}

/** One line for each field, the values under each other. */
export function formatFields(fields: readonly (readonly [name: string, value: string])[]): string {
  const width = Math.max(...fields.map(([name]) => widthOf(name)));
  return fields.map(([name, value]) => `${pad(name, width, false)}  ${value}`.trimEnd() + "\n").join("");
}

function pad(text: string, width: number, isRight: boolean): string {
  const blanks = " ".repeat(Math.max(0, width - widthOf(text)));
  return isRight ? blanks + text : text + blanks;
}

/** In code points: near enough for names of people's choice. */
function widthOf(text: string): number {
  return Array.from(text).length;
}
