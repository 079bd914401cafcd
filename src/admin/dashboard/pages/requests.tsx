/** @jsxImportSource hono/jsx */
/** *Requests*: the last ones, what they cost and why one was refused. */
import { formatCount, formatMoney, formatTime, spellOut } from "../format.ts";
import { nameKeys } from "../name-keys.ts";
import type { OrganizationPageCall, PageAnswer, PageRoute } from "../page.ts";
import { Layout } from "../parts/layout.tsx";
import { Table } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";
import { Older, pageQueryOf } from "../parts/older.tsx";
import type { RequestPageView, RequestView } from "../views.ts";

const COLUMNS = [
  "time",
  "status",
  "key",
  "model",
  { label: "tokens", kind: "number" },
  { label: "cost", kind: "number" },
] as const;

const PATH = "/organizations/:organization/requests";
const LIST = "/api/organizations/{organization}/requests";

async function showRequests(page: OrganizationPageCall): Promise<PageAnswer> {
  const { id } = page.organization;
  const [{ body }, names] = await Promise.all([
    page.api(`GET ${LIST}`, { params: { organization: id }, query: pageQueryOf(page) }),
    nameKeys(page),
  ]);
  const { data, next } = body as RequestPageView;
  return {
    markup: (
      <Layout page={page} title="Requests" section="requests">
        <form method="get" action={`/organizations/${id}/requests/find`} class="inline">
          <label for="id">Request id</label>
          <input id="id" name="id" placeholder="req_…" autocomplete="off" required />
          <button type="submit" class="quiet">
            Find
          </button>
        </form>
        {data.length === 0 ? (
          <p class="card empty">
            There was no request yet. <a href={`/organizations/${id}/try`}>Try it</a>
          </p>
        ) : (
          <RequestTable page={page} requests={data} names={names} />
        )}
        <Older page={page} next={next} />
      </Layout>
    ),
  };
}

interface RequestTableProps {
  readonly page: OrganizationPageCall;
  readonly requests: readonly RequestView[];
  readonly names: ReadonlyMap<string, string>;
}

function RequestTable({ page, requests, names }: RequestTableProps) {
  const { id, currency } = page.organization;
  return (
    <Table label="Requests" columns={COLUMNS}>
      {requests.map((request) => (
        <tr>
          <th scope="row">
            <a href={`/organizations/${id}/requests/${request.id}`}>
              <Time at={request.created_at} />
            </a>
          </th>
          <td>
            <Status request={request} />
          </td>
          <td>
            <bdi>{names.get(request.key_id) ?? request.key_id}</bdi>
          </td>
          <td>{request.model ?? "none"}</td>
          <td class="number">{formatCount(tokensOf(request))}</td>
          <td class="number">{formatMoney(request.cost_microcents, currency)}</td>
        </tr>
      ))}
    </Table>
  );
}

function tokensOf(request: RequestView): number {
  return request.input_tokens + request.cached_input_tokens + request.output_tokens;
}

function Status({ request }: { request: RequestView }) {
  const { status, error_code: code } = request;
  const level = status === null || status >= 400 ? "bad" : "good";
  return (
    <span class={`state ${level}`}>
      {code === null ? String(status ?? "lost") : `${status ?? ""} ${code}`}
    </span>
  );
}

async function findRequest(page: OrganizationPageCall): Promise<PageAnswer> {
  const id = encodeURIComponent((page.query.get("id") ?? "").trim());
  return { redirect: `/organizations/${page.organization.id}/requests/${id}` };
}

async function showRequest(page: OrganizationPageCall): Promise<PageAnswer> {
  const params = { organization: page.organization.id, request: page.params["request"] ?? "" };
  const { body } = await page.api(`GET ${LIST}/{request}`, { params });
  const request = body as RequestView;
  const names = await nameKeys(page);
  const facts = {
    "request id": request.id,
    time: formatTime(request.created_at),
    key: names.get(request.key_id) ?? request.key_id,
    route: request.route,
    model: request.model ?? "none",
    "input tokens": formatCount(request.input_tokens),
    "cached input tokens": formatCount(request.cached_input_tokens),
    "output tokens": formatCount(request.output_tokens),
    cost: `${formatMoney(request.cost_microcents, page.organization.currency)}${request.estimated ? " (estimated)" : ""}`,
  };
  return {
    markup: (
      <Layout page={page} title="Request" section="requests">
        <p>
          <Status request={request} />
        </p>
        <dl class="pairs card">
          {Object.entries(facts).map(([name, value]) => (
            <div>
              <dt>{name}</dt>
              <dd class="break">
                <bdi>{value}</bdi>
              </dd>
            </div>
          ))}
        </dl>
        <section aria-labelledby="checks">
          <h2 id="checks">Checks, in their order</h2>
          <Checks request={request} />
        </section>
      </Layout>
    ),
  };
}

function Checks({ request }: { request: RequestView }) {
  if (request.checks.length === 0) return <p class="quiet">None are kept of this request.</p>;
  return (
    <ol class="checks">
      {request.checks.map((check) => (
        <li>
          <span class={`state ${check.passed ? "good" : "bad"}`}>
            {check.passed ? "passed" : "refused here"}
          </span>{" "}
          <strong>{spellOut(check.name)}</strong>
          <span class="below">
            {Object.entries(check.figures)
              .map(([name, value]) => `${spellOut(name)}: ${value ?? "none"}`)
              .join(" · ")}
          </span>
        </li>
      ))}
    </ol>
  );
}

export const requestPageRoutes: readonly PageRoute[] = [
  { method: "GET", path: PATH, runInOrganization: showRequests },
  { method: "GET", path: `${PATH}/find`, runInOrganization: findRequest },
  { method: "GET", path: `${PATH}/:request`, runInOrganization: showRequest },
];
