import { formatAmount } from "../format.ts";
import { formatCsvLine } from "../format-csv.ts";
import type { UsageRowView } from "./views.ts";

const HEADER = [
  "day",
  "key_id",
  "key_name",
  "model",
  "requests",
  "input_tokens",
  "cached_input_tokens",
  "output_tokens",
  "reasoning_tokens",
  "estimated_requests",
  "cost",
  "currency",
];
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
  const header = HEADER.flatMap((name) =>
    name === "model" && byTag !== "" ? [name, `tag:${byTag}`] : [name],
  );
  const lines = rows.map((row) => [
    row.day ?? "",
    row.key_id ?? "",
    names.get(row.key_id ?? "") ?? "",
    row.model ?? "",
    ...(byTag === "" ? [] : [row.tags?.[byTag] ?? ""]),
    row.requests,
    row.input_tokens,
    row.cached_input_tokens,
    row.output_tokens,
    row.reasoning_tokens,
    row.estimated_requests,
    { verbatim: formatAmount(row.cost_microcents, "", DECIMALS).trim().replaceAll(",", "") },
    currency,
  ]);
  return [header, ...lines].map(formatCsvLine).join("");
}
