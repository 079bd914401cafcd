/** Formats of an export's rows. */
import { readTags } from "../../../shared/usage/tags.ts";
import type { ExportRow } from "./export-rows.ts";
import { FOCUS_COLUMNS } from "./focus.ts";
import { formatHeader, formatRow, USAGE_COLUMNS, type UsageColumn } from "./usage-table.ts";

export type ExportFormatName = "csv" | "jsonl" | "focus";

interface ExportFormat {
  readonly mediaType: string;
  /** Extension of the file's name. */
  readonly extension: string;
  /** Text before the first row; omitted if an export is resumed. */
  readonly header: string;
  readonly formatRow: (row: ExportRow) => string;
}

export const EXPORT_FORMATS: Readonly<Record<ExportFormatName, ExportFormat>> = {
  csv: createCsvFormat(USAGE_COLUMNS, "csv"),
  jsonl: {
    mediaType: "application/jsonl",
    extension: "jsonl",
    header: "",
    formatRow: formatJsonLine,
  },
  focus: createCsvFormat(FOCUS_COLUMNS, "focus.csv"),
};

function createCsvFormat(columns: readonly UsageColumn<ExportRow>[], extension: string): ExportFormat {
  return {
    mediaType: "text/csv; charset=utf-8",
    extension,
    header: formatHeader(columns),
    formatRow: (row) => formatRow(columns, row),
  };
}

/** Formats amounts exactly, and tags as an object, null for those that count as `other`. */
function formatJsonLine(row: ExportRow): string {
  const members = USAGE_COLUMNS.map(([name, read]) => {
    const value = name === "tags" ? (row.tags === "other" ? null : readTags(row.tags)) : read(row);
    return `${JSON.stringify(name)}:${typeof value === "bigint" ? String(value) : JSON.stringify(value)}`;
  });
  return `{${members.join(",")}}\n`;
}
