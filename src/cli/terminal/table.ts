/** Text for people at a terminal. */
import { cleanText, cutText, widthOf } from "./cell.ts";
import { fitColumns } from "./fit-columns.ts";
import type { Level, Screen } from "./screen.ts";
import { isShortId, shortenId } from "./short-id.ts";

export interface Column {
  readonly header: string;
  /** In which colour its cells are, row by row. */
  readonly levels?: readonly (Level | null)[];
  /** Where the screen is too narrow these are left out, the last one first. */
  readonly isExtra?: true;
}

/** A line of `formatFields`. */
export type Field = readonly [name: string, value: string, level?: Level | null];

const GAP = "  ";
const NUMBER = /^-?[\d.]+(?: [A-Z]{3})?$/;
/** Figures, amounts and times, and what stands in their places: cut they would say something else. */
const WHOLE = /^(?:-?[\d.]+(?: [A-Z]{3})?|\d{4}-\d{2}-\d{2}(?:T[\d:.]+Z)?|none|-|)$/;

/** A value of an answer; `none` for null. */
export function formatValue(value: unknown, none = "-"): string {
  if (value === null || value === undefined) return none;
  return typeof value === "string" ? value : JSON.stringify(value);
}

/**
 * Columns under their headers, two blanks between; numbers stand to the right. On a screen that has an end, ids are
 * short, and texts and at last whole columns are cut until a line fits.
 */
export function formatTable(
  screen: Screen,
  columns: readonly (string | Column)[],
  rows: readonly (readonly string[])[],
): string {
  const specs = columns.map((column): Column => (typeof column === "string" ? { header: column } : column));
  const show = screen.columns === null ? cleanText : (text: string) => shortenId(cleanText(text));
  const cells = rows.map((row) => specs.map((_, at) => show(row[at] ?? "")));
  const inputs = specs.map(({ header, isExtra = false }, at) => {
    const texts = cells.map((row) => row[at] ?? "");
    const width = Math.max(widthOf(header), ...texts.map(widthOf));
    return { header, isExtra, width, isWhole: texts.every((text) => WHOLE.test(text) || isShortId(text)) };
  });
  const { widths, leftOut } = fitColumns(inputs, screen.columns, GAP.length);
  const shown = specs.flatMap(({ header, levels = [] }, at) => {
    const width = widths[at] ?? null;
    const isNumber = rows.length > 0 && cells.every((row) => NUMBER.test(row[at] ?? ""));
    return width === null ? [] : [{ at, header, levels, width, isNumber }];
  });
  const formatCell = (text: string, { width, isNumber }: (typeof shown)[number], level: Level | null) => {
    const cut = cutText(text, width);
    const blanks = " ".repeat(width - widthOf(cut));
    return isNumber ? blanks + screen.paint(level, cut) : screen.paint(level, cut) + blanks;
  };
  const lines = [
    shown.map((column) => formatCell(column.header, column, "heading")),
    ...cells.map((row, line) =>
      shown.map((column) => formatCell(row[column.at] ?? "", column, column.levels[line] ?? null)),
    ),
  ].map((line) => line.join(GAP).trimEnd());
  return [...lines, ...formatNote(screen, leftOut)].map((line) => `${line}\n`).join("");
}

function formatNote(screen: Screen, leftOut: readonly string[]): string[] {
  if (leftOut.length === 0) return [];
  const note = `Not shown: ${leftOut.join(", ")} (--wide).`;
  return [screen.paint("quiet", cutText(note, screen.columns ?? note.length))];
}

/** One line for each field, the values under each other. */
export function formatFields(screen: Screen, fields: readonly Field[]): string {
  const width = Math.max(...fields.map(([name]) => widthOf(name)));
  return fields
    .map(([name, value, level = null]) => {
      const blanks = " ".repeat(width - widthOf(name));
      return `${`${name}${blanks}${GAP}${screen.paint(level, cleanText(value))}`.trimEnd()}\n`;
    })
    .join("");
}
