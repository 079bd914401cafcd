/**
 * Tables and records as text for terminals.
 * Table packages (`cli-table3`, `table`, `columnify`) cut or wrap all columns alike. Lists of keys or
 * requests on a narrow screen need more: columns are omitted in an order, and named below; figures, times and
 * ids are never cut, since a part would be misleading; and nothing is cut in a pipe. That is most of this
 * file; drawing takes a few lines.
 */
import { formatExactJson } from "../../../shared/text/exact-json.ts";
import { cleanText } from "../../../shared/text/plain-text.ts";
import { cutText, widthOf, wrapText } from "./cell.ts";
import type { Level, Screen } from "./screen.ts";
import { isShortId, shortenId } from "./short-id.ts";

export interface Column {
  readonly header: string;
  /** Colors of its cells, by row. */
  readonly levels?: readonly (Level | null)[];
  /** May be omitted on a narrow screen, the last column first. */
  readonly isExtra?: true;
  /** For the last column: wraps on a narrow screen. */
  readonly isWrapped?: true;
}

/** Column of `formatRecords`: its header, and its cells. */
export interface RecordColumn<Row> extends Omit<Column, "levels"> {
  /** Null: no value. */
  readonly cell: (row: Row, line: number) => unknown;
  readonly level?: (row: Row) => Level | null;
}

export type Field = readonly [name: string, value: string, level?: Level | null];

const GAP = "  ";
const NUMBER = /^-?[\d.]+(?: [A-Z]{3})?$/;
/** Texts for a missing value. */
const NO_NUMBER = /^(?:none|-|)$/;
const TIME = /^\d{4}-\d{2}-\d{2}(?:T[\d:.]+Z)?$/;
/** Visible characters of a key or token: "sk-igw-…a1B2". */
const DISPLAY = /^[a-z_-]+…[\w-]{4}$/;

/** Formats a value of a response; `none` for null. */
export function formatValue(value: unknown, none = "-"): string {
  if (value === null || value === undefined) return none;
  return typeof value === "string" ? value : formatExactJson(value);
}

/**
 * Formats columns under their headers, separated by two spaces; numbers are right-aligned. On a screen of
 * limited width, ids are short, and texts and finally whole columns are cut until a line fits.
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
    return { header, isExtra, width, isWhole: texts.every(isWhole) };
  });
  const { widths, omitted } = fitColumns(inputs, screen.columns, GAP.length);
  const shown = specs.flatMap(({ header, levels = [], isWrapped = false }, at) => {
    const width = widths[at] ?? null;
    const texts = cells.map((row) => row[at] ?? "");
    return width === null ? [] : [{ at, header, levels, width, isWrapped, isNumber: areNumbers(texts) }];
  });
  const formatCell = (text: string, { width, isNumber }: (typeof shown)[number], level: Level | null) => {
    const cut = cutText(text, width);
    const blanks = " ".repeat(width - widthOf(cut));
    return isNumber ? blanks + screen.paint(level, cut) : screen.paint(level, cut) + blanks;
  };
  const formatRow = (row: readonly string[], line: number): string[][] => {
    const parts = shown.map(({ at, width, isWrapped }) =>
      isWrapped ? wrapText(row[at] ?? "", width) : [row[at] ?? ""],
    );
    return Array.from({ length: Math.max(...parts.map(({ length }) => length)) }, (_, part) =>
      shown.map((column, at) => formatCell(parts[at]?.[part] ?? "", column, column.levels[line] ?? null)),
    );
  };
  const lines = [
    shown.map((column) => formatCell(column.header, column, "heading")),
    ...cells.flatMap(formatRow),
  ].map((line) => line.join(GAP).trimEnd());
  return [...lines, ...formatNote(screen, omitted)].map((line) => `${line}\n`).join("");
}

/** Formats a table with one row per record. */
export function formatRecords<Row>(
  screen: Screen,
  columns: readonly RecordColumn<Row>[],
  rows: readonly Row[],
): string {
  const specs = columns.map(({ level, ...column }) => ({ ...column, levels: level ? rows.map(level) : [] }));
  const cells = rows.map((row, line) => columns.map(({ cell }) => formatValue(cell(row, line))));
  return formatTable(screen, specs, cells);
}

function areNumbers(texts: readonly string[]): boolean {
  return (
    texts.some((text) => NUMBER.test(text)) &&
    texts.every((text) => NUMBER.test(text) || NO_NUMBER.test(text))
  );
}

/** Returns whether a text must not be cut, because a part would be misleading. */
function isWhole(text: string): boolean {
  return [NUMBER, NO_NUMBER, TIME, DISPLAY].some((form) => form.test(text)) || isShortId(text);
}

function formatNote(screen: Screen, omitted: readonly string[]): string[] {
  if (omitted.length === 0) return [];
  const note = `Not shown: ${omitted.join(", ")} (--wide).`;
  return [screen.paint("quiet", cutText(note, screen.columns ?? note.length))];
}

/** Returns a line for a value of a response; none if it is missing. */
export function showGiven(label: string, value: unknown): readonly Field[] {
  return value === undefined || value === null ? [] : [[label, formatValue(value)]];
}

/** Formats one line per field, with aligned values. */
export function formatFields(screen: Screen, fields: readonly Field[]): string {
  const width = Math.max(...fields.map(([name]) => widthOf(name)));
  return fields
    .map(([name, value, level = null]) => {
      const blanks = " ".repeat(width - widthOf(name));
      return `${`${name}${blanks}${GAP}${screen.paint(level, cleanText(value))}`.trimEnd()}\n`;
    })
    .join("");
}

/** Widths of a table's columns on a screen. */

interface ColumnInput {
  readonly header: string;
  /** Width of its longest cell. */
  readonly width: number;
  /** True for figures, times and ids, which must not be cut. */
  readonly isWhole: boolean;
  /** True if the column may be omitted. */
  readonly isExtra: boolean;
}

interface FittedColumns {
  /** Width of each column; null: omitted. */
  readonly widths: readonly (number | null)[];
  /** Headers of omitted columns. */
  readonly omitted: readonly string[];
}

/** A shorter part of a text is useless. */
const MIN_TEXT_WIDTH = 8;
/** Width that suits most names and codes; up to it, texts take precedence over further columns. */
const GOOD_TEXT_WIDTH = 24;

/**
 * Omits extra columns, from the right, before it shortens texts below a good width, longest first, and then
 * the other columns. The result is at most as wide as the screen.
 */
function fitColumns(columns: readonly ColumnInput[], available: number | null, gap: number): FittedColumns {
  if (available === null) return { widths: columns.map(({ width }) => width), omitted: [] };
  const sum = (widths: readonly number[]): number =>
    widths.reduce((total, width) => total + width, 0) + gap * Math.max(0, widths.length - 1);
  const shown = [...columns];
  const isTooWide = (textWidth: number) =>
    sum(shown.map((column) => leastWidth(column, textWidth))) > available;
  const lastExtra = () => shown.findLastIndex(({ isExtra }) => isExtra);
  for (let extra = lastExtra(); extra !== -1 && isTooWide(GOOD_TEXT_WIDTH); extra = lastExtra()) {
    shown.splice(extra, 1);
  }
  while (isTooWide(MIN_TEXT_WIDTH) && shown.length > 1) shown.pop();
  const widths = new Map(shown.map((column) => [column, column.width]));
  while (sum([...widths.values()]) > available) {
    const [widest] = shown
      .filter((column) => (widths.get(column) ?? 0) > leastWidth(column, MIN_TEXT_WIDTH))
      .toSorted((left, right) => (widths.get(right) ?? 0) - (widths.get(left) ?? 0));
    // A single column that is wider than the screen.
    if (widest === undefined) break;
    widths.set(widest, (widths.get(widest) ?? 0) - 1);
  }
  return {
    widths: columns.map((column) => {
      const width = widths.get(column);
      return width === undefined ? null : Math.min(width, available);
    }),
    omitted: columns.filter((column) => !widths.has(column)).map(({ header }) => header),
  };
}

function leastWidth({ width, isWhole }: ColumnInput, textWidth: number): number {
  return isWhole ? width : Math.min(width, textWidth);
}
