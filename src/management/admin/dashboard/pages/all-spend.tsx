/** Operator's *Spend of all organizations*: a month's spend, forecast, requests and errors of each, and one export. */
import { monthlyOf } from "../../api/all-spend.ts";
import { formatRounded } from "../../../../shared/money/money.ts";
import { monthAt, monthsBackFrom } from "../../../../shared/time/calendar.ts";
import { formatCount, groupThousands, monthName } from "../../format.ts";
import { type PageAnswer, type PageCall, type PageRoute, showPage } from "../page.ts";
import { Choice } from "../parts/filter-fields.tsx";
import { Layout } from "../parts/layout.tsx";
import { RowTable, type RowTableColumns } from "../parts/table.tsx";
import type { AllSpendView } from "../views.ts";

const PATH = "/organizations/spend";
const MONTHS_BACK = 24;

type Row = AllSpendView["data"][number];

async function showAllSpend(page: PageCall): Promise<PageAnswer> {
  const { month, sort } = queryOf(page);
  const { body } = await page.api("GET /api/spend", { query: queryOf(page) });
  const months = monthsBackFrom(monthAt(page.nowMs), MONTHS_BACK).map(
    ({ name }) => [name, monthName(name)] as const,
  );
  const columns = COLUMNS.map(({ sortBy, ...column }) =>
    sortBy === undefined
      ? column
      : {
          ...column,
          href: `${PATH}?${new URLSearchParams({ ...(month && { month }), sort: sortBy }).toString()}`,
          ...((sort ?? "-spent") === sortBy && {
            sorted: sortBy.startsWith("-") ? ("descending" as const) : ("ascending" as const),
          }),
        },
  ) as unknown as RowTableColumns<Row>;
  return showPage(
    <Layout page={page} title={`Spend of all organizations, ${monthName(body.month)}`} section="spend">
      <form method="get" action={PATH} class="filters screen-only" aria-label="Another month">
        <Choice name="month" label="Month" value={body.month} choices={new Map(months)} required />
        <div class="buttons">
          <button type="submit" class="quiet">
            Show
          </button>
          <a href={`${PATH}.csv?month=${body.month}`}>Export as CSV</a>
        </div>
      </form>
      <Totals rows={body.data} />
      <RowTable
        label="Spend of all organizations"
        class="stack dense"
        columns={columns}
        rows={body.data}
        empty="No organizations yet."
      />
      <p class="quiet">
        Amounts are rounded half up. Errors are 5xx and broken streams of the last 24 hours, of at most the
        newest 10,000 requests.
      </p>
    </Layout>,
  );
}

function Totals({ rows }: { rows: readonly Row[] }) {
  const sums = new Map<string, bigint>();
  for (const { currency, spent_microcents: spent } of rows) {
    sums.set(currency, (sums.get(currency) ?? 0n) + spent);
  }
  return (
    <dl class="figures">
      {[...sums].map(([currency, sum]) => (
        <div>
          <dt>Spent in {currency}</dt>
          <dd>{formatSum(sum, currency)}</dd>
        </div>
      ))}
    </dl>
  );
}

function formatSum(microcents: bigint | null, currency: string): string {
  return microcents === null ? "" : `${groupThousands(formatRounded(microcents))} ${currency}`;
}

const countOf = (count: number | null): string => (count === null ? "" : formatCount(count));

/** Columns with the order that their header sorts by. */
const COLUMNS: readonly (RowTableColumns<Row>[number] & { readonly sortBy?: string })[] = [
  {
    label: "organization",
    sortBy: "name",
    cell: ({ organization_id: id, organization_name: name, deleted_at: deletedAt }: Row) => (
      <>
        <a href={`/organizations/${id}`}>
          <bdi>{name}</bdi>
        </a>
        {deletedAt === null ? "" : " (deleted)"}
      </>
    ),
  },
  {
    label: "spent",
    kind: "number",
    sortBy: "-spent",
    cell: ({ spent_microcents: spent, currency }: Row) => formatSum(spent, currency),
  },
  {
    label: "forecast",
    kind: "number",
    sortBy: "-forecast",
    cell: ({ forecast_microcents: forecast, currency }: Row) => formatSum(forecast, currency),
  },
  {
    label: "monthly cap",
    kind: "number",
    cell: ({ limits, currency }: Row) => formatSum(monthlyOf(limits, "cap"), currency) || "none",
  },
  {
    label: "requests",
    kind: "number",
    sortBy: "-requests",
    cell: ({ requests }: Row) => countOf(requests),
  },
  {
    label: "errors",
    kind: "number",
    sortBy: "-errors",
    cell: ({ recent_errors: errors, recent_requests: recent }: Row) =>
      errors === null ? "" : `${formatCount(errors)} of ${formatCount(recent ?? 0)}`,
  },
  {
    label: "statement",
    cell: ({ organization_id: id, organization_name: name }: Row) => (
      <a href={`/organizations/${id}/statement`} aria-label={`Statement of ${name}`}>
        statement
      </a>
    ),
  },
];

function queryOf({ query }: PageCall): { month?: string; sort?: string } {
  const [month, sort] = [query.get("month"), query.get("sort")];
  return { ...(month === null ? {} : { month }), ...(sort === null ? {} : { sort }) };
}

async function downloadAllSpend(page: PageCall): Promise<PageAnswer> {
  const { body, headers } = await page.api("GET /api/spend", { query: { ...queryOf(page), format: "csv" } });
  return { text: body as unknown as string, headers: { ...headers } };
}

export const allSpendPageRoutes: readonly PageRoute[] = [
  { method: "GET", path: PATH, access: "operator", run: showAllSpend },
  { method: "GET", path: `${PATH}.csv`, access: "operator", run: downloadAllSpend },
];
