/** The formats of an export: what its rows are written as. */
import { formatDecimal } from "../../money.ts";
import { readTags } from "../../tags.ts";
import { TOKEN_KINDS, TOKEN_NAMES } from "../../token-usage.ts";
import { type CsvCell, formatCsvLine } from "../format-csv.ts";
import type { ExportCell, ExportColumn, ExportRow } from "./export-rows.ts";
import { FOCUS_COLUMNS } from "./focus.ts";

export type ExportFormatName = "csv" | "jsonl" | "focus";

export interface ExportFormat {
  readonly mediaType: string;
  /** Of the file's name. */
  readonly extension: string;
  /** Before the first row; not where an export is resumed. */
  readonly header: string;
  readonly formatRow: (row: ExportRow) => string;
}

const COLUMNS: readonly ExportColumn[] = [
  ["row_id", ({ id }) => id],
  ["day", ({ day }) => day],
  ["organization_id", ({ organization }) => organization.id],
  ["organization_name", ({ organization }) => organization.name],
  ["key_id", ({ keyId }) => keyId],
  ["key_name", ({ keyName }) => keyName],
  ["model", ({ model }) => model],
  ["tags", ({ tags }) => tags],
  ["requests", ({ requests }) => requests],
  ...TOKEN_KINDS.map((kind): ExportColumn => [TOKEN_NAMES[kind], (row) => row[kind]]),
  ["estimated_requests", ({ estimatedRequests }) => estimatedRequests],
  ["cost_microcents", ({ costMicrocents }) => costMicrocents],
  ["cost", ({ costMicrocents }) => formatDecimal(costMicrocents)],
  ["currency", ({ organization }) => organization.currency],
  ["server_tool_microcents", ({ toolMicrocents }) => toolMicrocents],
];

export const EXPORT_FORMATS: Readonly<Record<ExportFormatName, ExportFormat>> = {
  csv: createCsvFormat(COLUMNS, "csv"),
  jsonl: {
    mediaType: "application/jsonl",
    extension: "jsonl",
    header: "",
    formatRow: formatJsonLine,
  },
  focus: createCsvFormat(FOCUS_COLUMNS, "focus.csv"),
};

function createCsvFormat(columns: readonly ExportColumn[], extension: string): ExportFormat {
  return {
    mediaType: "text/csv; charset=utf-8",
    extension,
    header: formatCsvLine(columns.map(([name]) => name)),
    formatRow: (row) => formatCsvLine(columns.map(([, read]) => toCell(read(row)))),
  };
}

/** A decimal is a number to a spreadsheet, whatever its sign. */
function toCell(value: ExportCell | null): CsvCell {
  if (value === null) return "";
  return typeof value === "string" && /^-?\d+\.\d{8}$/.test(value) ? { verbatim: value } : value;
}

/** Amounts with all their digits; tags as an object, null for those that count as `other`. */
function formatJsonLine(row: ExportRow): string {
  const members = COLUMNS.map(([name, read]) => {
    const value = name === "tags" ? (row.tags === "other" ? null : readTags(row.tags)) : read(row);
    return `${JSON.stringify(name)}:${typeof value === "bigint" ? String(value) : JSON.stringify(value)}`;
  });
  return `{${members.join(",")}}\n`;
}
