/** Usage and requests of *Your keys*, and the page of one own request. */
import { formatMoney, formatTickMoney } from "../../format.ts";
import { type PageAnswer, type PageCall, showPage } from "../page.ts";
import { Layout, Section, type SectionProps } from "../parts/layout.tsx";
import { Pairs } from "../parts/pairs.tsx";
import { RequestStatus, Time } from "../parts/inline.tsx";
import { RequestTable } from "../parts/request-columns.tsx";
import { Neighbors, neighborsQuery } from "../parts/request-neighbors.tsx";
import { StackedColumns } from "../parts/stacked-columns.tsx";
import { RowTable, type RowTableProps } from "../parts/table.tsx";
import { UsageTable } from "../parts/usage-table.tsx";
import { columnsOf, gatherCost, groupBy } from "../usage-columns.ts";
import type { RequestPageView, UsageView } from "../views.ts";
import { isSuccess, RequestDetails } from "./request.tsx";

const ME = "/api/organizations/{organization}/me";
const SHOWN_REQUESTS = "12";

export function pathOf({ params }: PageCall): string {
  return `/organizations/${params["organization"] ?? ""}/me`;
}

type OwnTableProps<Row> = Omit<RowTableProps<Row>, "class"> & Pick<SectionProps, "id" | "title">;

export function OwnTable<Row>({ id, title, ...table }: OwnTableProps<Row>) {
  return (
    <Section id={id} title={title}>
      <RowTable class="stack" {...table} />
    </Section>
  );
}

interface OwnUse {
  readonly usage: UsageView;
  readonly requests: RequestPageView["data"];
}

export async function readUse(page: PageCall): Promise<OwnUse> {
  const [usage, requests] = await Promise.all([
    page.api(`GET ${ME}/usage`, { query: { group_by: "day,model", top: "10" } }),
    page.api(`GET ${ME}/requests`, { query: { limit: SHOWN_REQUESTS } }),
  ]);
  return { usage: usage.body, requests: requests.body.data };
}

interface UseProps {
  readonly page: PageCall;
  readonly currency: string;
}

/** Usage by day and model, and recent requests. */
export function Use({ page, currency, usage, requests }: UseProps & OwnUse) {
  const { data: rows } = usage;
  const grouping = groupBy(rows, "model");
  return (
    <>
      <UsageChart title="Your usage this month" currency={currency} usage={usage} by="model" />
      {rows.length === 0 ? null : (
        <UsageTable id="by-model" title="By model" rows={rows} currency={currency} grouping={grouping} />
      )}
      <LastRequests path={pathOf(page)} requests={requests} isOwn />
      {requests.length === 0 ? null : (
        <p>
          <a href={`${pathOf(page)}/requests`}>All your requests, and the status of your models</a>
        </p>
      )}
    </>
  );
}

interface UsageChartProps {
  readonly title: string;
  readonly currency: string;
  readonly usage: UsageView;
  readonly by: "model" | "key";
}

export function UsageChart({ title, currency, usage, by }: UsageChartProps) {
  const { data: rows, from, to, complete_from: completeFrom } = usage;
  const columns = columnsOf({ from, to }, "day");
  return (
    <Section id="usage" title={title}>
      {rows.length === 0 ? (
        <p class="card empty">No usage yet.</p>
      ) : (
        <StackedColumns
          label={`Cost day by day, by ${by}`}
          columns={columns.titles}
          series={gatherCost(columns, rows, groupBy(rows, by))}
          unit={currency}
          format={(microcents) => formatMoney(microcents, currency)}
          formatTick={formatTickMoney}
        />
      )}
      {completeFrom === null ? null : (
        <p class="quiet">
          Complete since <Time at={completeFrom} />.
        </p>
      )}
    </Section>
  );
}

interface LastRequestsProps {
  /** Start of the paths of requests. */
  readonly path: string;
  readonly requests: RequestPageView["data"];
  readonly isOwn?: boolean;
}

const ALL_REQUESTS = { filters: {}, last: null, columns: null } as const;

export function LastRequests({ path, requests, isOwn = false }: LastRequestsProps) {
  const explored = { path: `${path}/requests`, choice: ALL_REQUESTS, isOwn, requests };
  return (
    <Section id="requests" title="Last requests">
      <RequestTable explored={explored} empty="No requests yet." />
    </Section>
  );
}

/** Page of one own request: its outcome and cause. */
export async function showOwnRequest(page: PageCall): Promise<PageAnswer> {
  const { body: request } = await page.api(`GET ${ME}/requests/{request}`, {
    query: await neighborsQuery(page),
  });
  const { sentence, action } = request.explanation;
  return showPage(
    <Layout page={page} title="Request">
      <Neighbors page={page} path={`${pathOf(page)}/requests`} request={request} />
      <p class={`notice ${isSuccess(request) ? "good" : "bad"}`}>
        {sentence} {action === null ? null : <a href={`${pathOf(page)}#limits`}>See your limits</a>}
      </p>
      <Pairs
        facts={{
          status: <RequestStatus request={request} />,
          "request id": <code class="break">{request.id}</code>,
          time: <Time at={request.created_at} exact />,
          key: <bdi>{request.key_name ?? request.key_id}</bdi>,
          model: request.model ?? request.requested_model ?? "not read before the rejection",
        }}
      />
      <RequestDetails request={request} />
      <p>
        <a href={pathOf(page)}>Back to your keys</a>
      </p>
    </Layout>,
  );
}
