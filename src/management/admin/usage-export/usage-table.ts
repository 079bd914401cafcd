/**
 * The columns of usage as a table: of the export, of `GET …/usage` as CSV and of what the dashboard shows. The same
 * everywhere, so that what reads one of the files reads all of them; where rows are not apart by a part, it is empty.
 */
import { formatDecimal } from "../../../shared/money/money.ts";
import { parseOwnerIds } from "../../../data-path/store/types/owner-ids.ts";
import {
  FIGURE_NAMES,
  FIGURES_BY_POSITION,
  type UsageFigure,
  type UsageFigures,
} from "../../../shared/usage/usage-figures.ts";
import type { UsageNames } from "../api/names.ts";
import type { OrganizationRecord } from "../../../data-path/store/types/management.ts";

/** What of a row tells it from the others; null where rows are not apart by it, or there is none. */
export interface UsageParts {
  readonly day: string | null;
  readonly keyId: string | null;
  /** In the form of `owner-ids.ts`: the user and the group, of those that rows are apart by; empty: neither. */
  readonly owners: string;
  readonly model: string | null;
  /** "feature=a,team=search", `other` for what is not kept apart; empty: none. */
  readonly tags: string;
}

export interface UsageTableRow extends UsageParts, UsageFigures, UsageNames {
  /** The only one of its kind in its table. */
  readonly id: string;
  readonly organization: Pick<OrganizationRecord, "id" | "name" | "currency">;
}

type UsageCell = string | number | bigint;
/** Null: nothing stands there. */
export type UsageColumn<Row = UsageTableRow> = readonly [name: string, read: (row: Row) => UsageCell | null];

/** Columns are read by position: none ever moves, and a new one comes last. */
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
];

function figureColumn(figure: UsageFigure): UsageColumn {
  return [FIGURE_NAMES[figure], (row) => row[figure]];
}

/**
 * "2026-11-21 key_… acme/echo-small team=search", `-` for what there is none of; `all` for the day, since a cell may not
 * begin with a sign. Behind the key stands whose the requests were, "key_….user_….group_…". None of the parts has blanks.
 */
export function formatRowId({ day, keyId, owners, model, tags }: UsageParts): string {
  const who = (keyId ?? "-") + (owners === "" ? "" : `.${owners}`);
  return [day ?? "all", who, model ?? "-", tags === "" ? "-" : tags].join(" ");
}

/** All of it; the header line is there without rows too. */
export function formatUsageTable(rows: readonly UsageTableRow[]): string {
  return formatHeader(USAGE_COLUMNS) + rows.map((row) => formatRow(USAGE_COLUMNS, row)).join("");
}

export function formatHeader(columns: readonly UsageColumn<never>[]): string {
  return formatCsvLine(columns.map(([name]) => name));
}

export function formatRow<Row>(columns: readonly UsageColumn<Row>[], row: Row): string {
  return formatCsvLine(columns.map(([, read]) => toCell(read(row))));
}

/** A decimal is a number to a spreadsheet, whatever its sign. */
function toCell(value: UsageCell | null): CsvCell {
  if (value === null) return "";
  return typeof value === "string" && /^-?\d+\.\d{8}$/.test(value) ? { verbatim: value } : value;
}

/** Tables for spreadsheets: RFC 4180, and nothing in a cell that a spreadsheet would run. */

/** What a cell that is a formula begins with (OWASP, "CSV Injection"), the full-width forms of the signs among it. */
const FORMULA = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;
const SPECIAL = /[",\r\n]/;

/**
 * One line, its line break included. A text that would be a formula gets a `'` before it, which spreadsheets show as the
 * sign that it is a text; numbers stay numbers, negative ones too.
 */
export function formatCsvLine(cells: readonly CsvCell[]): string {
  return `${cells.map(formatCsvCell).join(",")}\r\n`;
}

/** `verbatim`: a number in a notation of its own, such as a decimal with all its places. */
type CsvCell = string | number | bigint | { readonly verbatim: string };

function formatCsvCell(value: CsvCell): string {
  if (typeof value === "object") return value.verbatim;
  if (typeof value !== "string") return String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return SPECIAL.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
