/** Requests as CSV: one line each, with the API's names as columns. */
import { formatDecimal } from "../../../shared/money/money.ts";
import { KINDS_BY_POSITION, TOKEN_NAMES } from "../../../shared/usage/token-usage.ts";
import { formatHeader, formatRow, type UsageColumn } from "../usage-export/usage-table.ts";
import type { RequestView } from "./views.ts";

const TEXTS = [
  "created_at",
  "id",
  "status",
  "error_code",
  "key_id",
  "key_name",
  "user_id",
  "user_name",
  "group_id",
  "group_name",
  "route",
  "model",
  "requested_model",
  "session_id",
  "duration_ms",
  "first_token_ms",
] as const satisfies readonly (keyof RequestView)[];

const COLUMNS: readonly UsageColumn<RequestView>[] = [
  ...TEXTS.map((name): UsageColumn<RequestView> => [name, (request) => request[name]]),
  [
    "tags",
    ({ tags }) =>
      Object.entries(tags)
        .map(([name, value]) => `${name}=${value}`)
        .join(","),
  ],
  ["upstream", ({ upstream }) => upstream?.name ?? null],
  ["upstream_status", ({ upstream }) => upstream?.status ?? null],
  ...KINDS_BY_POSITION.map((kind): UsageColumn<RequestView> => {
    const name = TOKEN_NAMES[kind];
    return [name, (request) => request[name]];
  }),
  ["cost", ({ cost_microcents: cost }) => formatDecimal(BigInt(cost))],
];

/** Formats pages of requests as they are read. */
export async function* formatRequestsCsv(
  pages: AsyncIterable<readonly RequestView[]>,
): AsyncGenerator<string> {
  let head = formatHeader(COLUMNS);
  for await (const requests of pages) {
    yield head + requests.map((request) => formatRow(COLUMNS, request)).join("");
    head = "";
  }
}
