/** *Requests*: recent requests with filters, their duration and cost. */
import { AdminError } from "../../admin-error.ts";
import { readKeyNames } from "../../api/names.ts";
import { columnDecimals } from "../../../../shared/money/money.ts";
import { shorten } from "../../../../shared/text/shorten.ts";
import { formatAmount, formatCount, formatDuration } from "../../format.ts";
import { nameKeys } from "../read-lists.ts";
import { OWNER_KINDS } from "../../../../data-path/store/types/owner-kinds.ts";
import { describeWanted, fieldOfOwner, resolveOwners } from "../owner-texts.ts";
import { type OrganizationPageCall, type PageAnswer, type PageRoute, showPage } from "../page.ts";
import { FilterProblem } from "../parts/filter-fields.tsx";
import { Layout } from "../parts/layout.tsx";
import { type ColumnKind, Older, pageQueryOf, RowTable, type RowTableColumns } from "../parts/table.tsx";
import { RequestFilters, requestFiltersOf, RequestStatus, sessionPath } from "../parts/requests.tsx";
import { Time } from "../parts/inline.tsx";
import type { RequestPageView, RequestView } from "../views.ts";
import { showRequest } from "./request.tsx";

const PATH = "/organizations/:organization/requests";
const NOTHING: RequestPageView = { data: [], has_more: false, next: null };

async function showRequests(page: OrganizationPageCall): Promise<PageAnswer> {
  const filters = requestFiltersOf(page);
  const [{ list, problem }, filterTexts, keys, chosen, catalog] = await Promise.all([
    readRequests(page, filters),
    describeFilters(page, filters),
    nameKeys(page),
    readKeyNames(page.options.store, page.organization.id, [filters["key_id"] ?? null]),
    page.api("GET /api/catalog"),
  ]);
  const models = catalog.body.data.map((model) => model.id);
  return showPage(
    <Layout page={page} title="Requests" section="requests">
      <RequestFilters
        base={page.base}
        filters={filterTexts}
        keys={new Map([...keys, ...chosen])}
        models={models}
        upstreams={upstreamsOf(list.data)}
      />
      {problem === null ? null : <FilterProblem text={problem} />}
      {page.query.has("after") || problem !== null ? null : <LiveSwitch />}
      <div id="requests">
        {problem !== null ? null : (
          <RowTable
            label="Requests"
            class="stack dense"
            columns={columnsOf(page, columnDecimals(list.data.map((request) => request.cost_microcents)))}
            rows={list.data}
            empty={<Nothing page={page} filters={filters} isOver={list.next === null} />}
          />
        )}
        <Older page={page} next={list.next} />
      </div>
      <p class="quiet">
        Shows about 10,000 requests, and 2,000 that were rejected at once. A 404, 405 or 415, and a key that
        is none, leave no entry: Envoy's access log has them.
      </p>
    </Layout>,
    problem === null ? 200 : 400,
  );
}

function upstreamsOf(requests: readonly RequestView[]): readonly string[] {
  const names = requests.flatMap(({ upstream }) => (upstream === null ? [] : [upstream.name]));
  return [...new Set(names)].toSorted();
}

/** Reads requests; problems of a filter are shown next to the fields. */
async function readRequests(
  page: OrganizationPageCall,
  filters: Readonly<Record<string, string>>,
): Promise<{ list: RequestPageView; problem: string | null }> {
  try {
    const { body } = await page.api("GET /api/organizations/{organization}/requests", {
      query: { ...pageQueryOf(page), ...(await resolveOwners(page.api, filters)) },
    });
    return { list: body, problem: null };
  } catch (error) {
    if (error instanceof AdminError && error.status === 400) return { list: NOTHING, problem: error.message };
    throw error;
  }
}

/** Replaces ids of users and groups by names. */
async function describeFilters(
  page: OrganizationPageCall,
  filters: Readonly<Record<string, string>>,
): Promise<Readonly<Record<string, string>>> {
  const texts = { ...filters };
  for (const field of OWNER_KINDS.map(fieldOfOwner)) {
    const text = filters[field];
    if (text !== undefined) texts[field] = await describeWanted(page, text);
  }
  return texts;
}

/** Switch for the script, which refreshes the list until paused. */
function LiveSwitch() {
  return (
    <p class="live">
      <button type="button" class="quiet" data-live="requests" aria-pressed="false" hidden>
        Follow live
      </button>{" "}
      <span class="quiet" role="status" id="live-status"></span>
    </p>
  );
}

interface NothingProps {
  readonly page: OrganizationPageCall;
  readonly filters: Readonly<Record<string, string>>;
  readonly isOver: boolean;
}

function Nothing({ page, filters, isOver }: NothingProps) {
  if (Object.keys(filters).length > 0) {
    return <>{isOver ? "No requests match." : "None among the latest requests. Search older ones:"}</>;
  }
  return (
    <>
      No requests yet. <a href={`${page.base}/try`}>Try it</a>
    </>
  );
}

/** @param decimals Decimals of all costs in the column. */
function columnsOf(
  { base, organization: { currency } }: OrganizationPageCall,
  decimals: number,
): RowTableColumns<RequestView> {
  const number = (label: string, cell: (request: RequestView) => string, kind: ColumnKind = "number") => ({
    label,
    kind,
    cell,
  });
  return [
    {
      label: "time",
      cell: ({ id, created_at: at }) => (
        <a href={`${base}/requests/${id}`}>
          <Time at={at} exact />
        </a>
      ),
    },
    { label: "status", cell: (request) => <RequestStatus request={request} /> },
    {
      label: "key",
      title: nameKey,
      cell: (request) => (
        <>
          <bdi class="name">{nameKey(request)}</bdi>
          <Owners request={request} />
          <Session base={base} request={request} />
        </>
      ),
    },
    { label: "model", cell: ({ model }) => model ?? NONE },
    number("duration", ({ duration_ms: ms }) => (ms === null ? NONE : formatDuration(ms))),
    number(
      "first token",
      ({ first_token_ms: ms }) => (ms === null ? NONE : formatDuration(ms)),
      "number rest",
    ),
    number("input", ({ input_tokens: tokens }) => formatCount(tokens)),
    number("cached", ({ cached_input_tokens: tokens }) => formatCount(tokens), "number rest"),
    number("output", ({ output_tokens: tokens }) => formatCount(tokens)),
    number("cost", ({ cost_microcents: cost, error_code: error }) =>
      cost === 0 && error !== null ? "none" : formatAmount(cost, currency, decimals),
    ),
    { label: "upstream", kind: "rest", cell: ({ upstream }) => <Upstream upstream={upstream} /> },
  ];
}

const NONE = "–";

function nameKey({ key_name: name, key_id: id }: RequestView): string {
  return name ?? id;
}

/** Owners of a request, below its key. */
function Owners({ request }: { request: RequestView }) {
  const names = [request.user_name ?? request.user_id, request.group_name ?? request.group_id];
  const shown = names.filter((name) => name !== null);
  return shown.length === 0 ? null : <span class="below">{shown.join(", ")}</span>;
}

/** Session below the owners, with a link to all of its requests. */
function Session({ base, request: { session_id: name } }: { base: string; request: RequestView }) {
  if (name === null) return null;
  return (
    <span class="below">
      session <a href={sessionPath(base, name)}>{shorten(name, 16)}</a>
    </span>
  );
}

function Upstream({ upstream }: Pick<RequestView, "upstream">) {
  if (upstream === null) return <>{NONE}</>;
  return (
    <>
      {upstream.name} <span class="whole">{upstream.status ?? "no response"}</span>
    </>
  );
}

export const requestPageRoutes: readonly PageRoute[] = [
  { method: "GET", path: PATH, runInOrganization: showRequests },
  { method: "GET", path: `${PATH}/:request`, runInOrganization: showRequest },
];
