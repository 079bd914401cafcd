/**
 * Columns of usage tables: of the export, of `GET …/usage` as CSV and of the dashboard's CSV. They are the
 * same everywhere, so that a reader of one file can read all; a part by which rows are not grouped is empty.
 */
import { formatDecimal } from "../../../shared/money/money.ts";
import { parseOwnerIds } from "../../../shared/stored/owner-ids.ts";
import {
  FIGURE_NAMES,
  FIGURES_BY_POSITION,
  type UsageFigure,
  type UsageFigures,
} from "../../../shared/usage/usage-figures.ts";
import type { UsageNames } from "../api/names.ts";
import type { OrganizationRecord } from "../../../shared/stored/management.ts";

/** Parts that identify a row; null if rows are not grouped by it, or there is none. */
export interface UsageParts {
  /** The day; in a report by hour, week or month the hour, the Monday or the month. */
  readonly day: string | null;
  readonly keyId: string | null;
  /** User and group in the form of `owner-ids.ts`, if rows are grouped by them; empty: neither. */
  readonly owners: string;
  readonly model: string | null;
  /** "feature=a,team=search", `other` for further combinations; empty: none. */
  readonly tags: string;
  /** Omitted from rows that are not grouped by it. */
  readonly session?: string | null;
}

export interface UsageTableRow extends UsageParts, UsageFigures, UsageNames {
  /** Unique in its table. */
  readonly id: string;
  readonly organization: Pick<OrganizationRecord, "id" | "name" | "currency">;
}

type UsageCell = string | number | bigint;
/** Null: empty cell. */
export type UsageColumn<Row = UsageTableRow> = readonly [name: string, read: (row: Row) => UsageCell | null];

/** Columns are read by position: never move one; append new ones. */
export const USAGE_COLUMNS: readonly UsageColumn[] = [
  ["row_id", ({ id }) => id],
  ["day", ({ day }) => day],
  ["organization_id", ({ organization }) => organization.id],
  ["organization_name", ({ organization }) => organization.name],
  ["key_id", ({ keyId }) => keyId],
  ["key_name", ({ keyName }) => keyName],
  ["model", ({ model }) => model],
  ["tags", ({ tags }) => tags],
  ["user_id", ({ owners }) => parseOwnerIds(owners).userId],
  ["user_name", ({ userName }) => userName],
  ["group_id", ({ owners }) => parseOwnerIds(owners).groupId],
  ["group_name", ({ groupName }) => groupName],
  ["cost", ({ costMicrocents }) => formatDecimal(costMicrocents)],
  ["currency", ({ organization }) => organization.currency],
  ...FIGURES_BY_POSITION.map(figureColumn),
  ["session_id", ({ session }) => session ?? null],
];

function figureColumn(figure: UsageFigure): UsageColumn {
  return [FIGURE_NAMES[figure], (row) => row[figure]];
}

/**
 * Formats "2026-11-21 key_… acme/echo-small team=search", with `-` for missing parts; `all` for the day,
 * since a cell must not start with a sign. Owners follow the key: "key_….user_….group_…". Parts contain no
 * spaces.
 */
export function formatRowId({ day, keyId, owners, model, tags, session = null }: UsageParts): string {
  const keyAndOwners = (keyId ?? "-") + (owners === "" ? "" : `.${owners}`);
  const parts = [day ?? "all", keyAndOwners, model ?? "-", tags === "" ? "-" : tags];
  return (session === null ? parts : [...parts, session]).join(" ");
}

/** Formats the whole table; has a header line even without rows. */
export function formatUsageTable(rows: readonly UsageTableRow[]): string {
  return formatHeader(USAGE_COLUMNS) + rows.map((row) => formatRow(USAGE_COLUMNS, row)).join("");
}

export function formatHeader(columns: readonly UsageColumn<never>[]): string {
  return formatCsvLine(columns.map(([name]) => name));
}

export function formatRow<Row>(columns: readonly UsageColumn<Row>[], row: Row): string {
  return formatCsvLine(columns.map(([, read]) => toCell(read(row))));
}

/** Spreadsheets read a decimal as a number, whatever its sign. */
function toCell(value: UsageCell | null): CsvCell {
  if (value === null) return "";
  return typeof value === "string" && /^-?\d+\.\d{8}$/.test(value) ? { verbatim: value } : value;
}

/** Tables for spreadsheets: RFC 4180, without cells that a spreadsheet would execute. */

/** Characters that start a formula (OWASP, "CSV Injection"), including full-width forms. */
const FORMULA = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;
const SPECIAL = /[",\r\n]/;

/**
 * Formats a line with its line break. A text that would be a formula gets a leading `'`, which marks a text
 * in spreadsheets; numbers stay numbers, even negative ones.
 */
export function formatCsvLine(cells: readonly CsvCell[]): string {
  return `${cells.map(formatCsvCell).join(",")}\r\n`;
}

/** `verbatim`: a preformatted number, such as a decimal with all its digits. */
type CsvCell = string | number | bigint | { readonly verbatim: string };

function formatCsvCell(value: CsvCell): string {
  if (typeof value === "object") return value.verbatim;
  if (typeof value !== "string") return String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return SPECIAL.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
