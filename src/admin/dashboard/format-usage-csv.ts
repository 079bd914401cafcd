import { formatAmount } from "../format.ts";
import { type CsvCell, formatCsvLine } from "../format-csv.ts";
import type { UsageRowView } from "./views.ts";

type UsageColumn = readonly [name: string, read: (row: UsageRowView) => CsvCell];

const COUNTS = [
  "requests",
  "input_tokens",
  "cached_input_tokens",
  "output_tokens",
  "reasoning_tokens",
  "estimated_requests",
] as const;
/** To the microcent. */
const DECIMALS = 8;

interface UsageCsvOptions {
  readonly currency: string;
  /** The tag that the rows are apart by, which then is a column behind the model; empty: none. */
  readonly byTag: string;
}

/** What the page shows, row by row. @param names Key id → name. */
export function formatUsageCsv(
  rows: readonly UsageRowView[],
  names: ReadonlyMap<string, string>,
  { currency, byTag }: UsageCsvOptions,
): string {
  const tag: readonly UsageColumn[] =
    byTag === "" ? [] : [[`tag:${byTag}`, ({ tags }) => tags?.[byTag] ?? ""]];
  const columns: readonly UsageColumn[] = [
    ["day", ({ day }) => day ?? ""],
    ["key_id", (row) => row.key_id ?? ""],
    ["key_name", (row) => names.get(row.key_id ?? "") ?? ""],
    ["model", ({ model }) => model ?? ""],
    ...tag,
    ...COUNTS.map((count): UsageColumn => [count, (row) => row[count]]),
    [
      "cost",
      (row) => ({ verbatim: formatAmount(row.cost_microcents, "", DECIMALS).trim().replaceAll(",", "") }),
    ],
    ["currency", () => currency],
  ];
  const lines = rows.map((row) => columns.map(([, read]) => read(row)));
  return [columns.map(([name]) => name), ...lines].map(formatCsvLine).join("");
}
