/** *Requests*: recent requests over time and one by one, of an organization or of one's own. */
import { AdminError } from "../../admin-error.ts";
import { describeProblems } from "../form.ts";
import { openStream } from "../../api/usage-export.ts";
import {
  type OrganizationPageCall,
  type PageAnswer,
  type PageCall,
  type PageRoute,
  showPage,
} from "../page.ts";
import { formatRequestsCsv } from "../format-requests-csv.ts";
import { FilterProblem } from "../parts/filter-fields.tsx";
import { type HealthRow, HealthTable } from "../parts/health.tsx";
import { Layout, Section } from "../parts/layout.tsx";
import { Older, pageQueryOf } from "../parts/table.tsx";
import { RequestTable } from "../parts/request-columns.tsx";
import { RequestHistogram } from "../parts/request-histogram.tsx";
import { LiveSwitch, RequestFilters } from "../parts/requests.tsx";
import { queryOf, readRequestChoice, type RequestChoice } from "../request-choice.ts";
import type { RequestCountsView, RequestPageView, RequestView } from "../views.ts";
import { showOwnRequest } from "./own-use.tsx";
import { showRequest } from "./request.tsx";

const PATH = "/organizations/:organization/requests";
const OWN_PATH = "/organizations/:organization/me/requests";
const NOTHING: RequestPageView = { data: [], has_more: false, next: null };

/** Scope of the page: an organization's requests, or one's own. */
interface Explored {
  readonly page: PageCall;
  /** Start of the organization's paths. */
  readonly base: string;
  readonly path: string;
  readonly isOwn: boolean;
}

function ofOrganization(page: OrganizationPageCall): Explored {
  const { base } = page;
  return { page, base, path: `${base}/requests`, isOwn: false };
}

function ofOwn(page: PageCall): Explored {
  const base = `/organizations/${organizationOf(page)}`;
  return { page, base, path: `${base}/me/requests`, isOwn: true };
}

const organizationOf = ({ params }: PageCall) => params["organization"] ?? "";

const listOf = ({ isOwn }: Explored) =>
  isOwn
    ? "GET /api/organizations/{organization}/me/requests"
    : "GET /api/organizations/{organization}/requests";
const countsOf = ({ isOwn }: Explored) =>
  isOwn
    ? "GET /api/organizations/{organization}/me/request-counts"
    : "GET /api/organizations/{organization}/request-counts";

async function showRequests(explored: Explored): Promise<PageAnswer> {
  const { page, path, isOwn } = explored;
  const choice = readRequestChoice(page);
  const { list, counts, problem } = await tryToRead(explored, choice);
  const isFollowed = page.query.has("live");
  const [catalog, models] = await Promise.all([
    isOwn ? null : page.api("GET /api/catalog"),
    isOwn && !isFollowed ? readOwnHealth(page) : [],
  ]);
  return showPage(
    <Layout page={page} title={isOwn ? "Your requests" : "Requests"} section="requests">
      <RequestFilters
        path={path}
        choice={choice}
        values={counts?.values ?? NO_VALUES}
        names={counts?.filter_names ?? {}}
        models={catalog?.body.data.map((model) => model.id) ?? []}
        isOwn={isOwn}
      />
      {problem === null ? null : <FilterProblem text={problem} />}
      {counts === null ? null : <RequestHistogram path={path} choice={choice} counts={counts} />}
      {problem === null ? <LiveSwitch page={page} /> : null}
      <div id="requests">
        {problem === null ? <Rows explored={explored} choice={choice} list={list} /> : null}
        <Older page={page} next={list.next} />
      </div>
      {models.length === 0 ? null : (
        <Section id="health" title="Status of your models">
          <HealthTable label="Status of your models, table" subject="model" rows={models} />
        </Section>
      )}
      <p class="quiet">
        Lists about the last 10,000 requests, and 2,000 that were rejected at once. Requests to an unknown
        path or with an unknown key leave no entry here; Envoy's access log has them.
      </p>
    </Layout>,
    problem === null ? 200 : 400,
  );
}

/** Reads the health of the models in one's own requests of this month. */
async function readOwnHealth(page: PageCall): Promise<readonly HealthRow[]> {
  const query = { group_by: "model", health: "true" };
  const { body } = await page.api("GET /api/organizations/{organization}/me/usage", { query });
  return body.data.flatMap(({ model = null, health }) =>
    model === null || health === undefined
      ? []
      : [{ name: model, link: `?model=${encodeURIComponent(model)}`, health }],
  );
}

interface Read {
  readonly list: RequestPageView;
  /** Null while the list is followed, and with a problem. */
  readonly counts: RequestCountsView | null;
  readonly problem: string | null;
}

/** One's own are mostly read on a phone, with the status of the models below. */
const shownOf = ({ isOwn }: Explored) => (isOwn ? { limit: "30" } : {});

/** Reads requests; problems of a filter are shown next to the fields. */
async function tryToRead(explored: Explored, choice: RequestChoice): Promise<Read> {
  const { page } = explored;
  try {
    const filters = await queryOf(page, choice);
    const [list, counts] = await Promise.all([
      page.api(listOf(explored), { query: { ...pageQueryOf(page), ...shownOf(explored), ...filters } }),
      page.query.has("live") ? null : page.api(countsOf(explored), { query: filters }),
    ]);
    return { list: list.body, counts: counts?.body ?? null, problem: null };
  } catch (error) {
    if (!(error instanceof AdminError) || error.status !== 400) throw error;
    return { list: NOTHING, counts: null, problem: describeProblems(error) };
  }
}

const NO_VALUES: RequestCountsView["values"] = {
  key_id: [],
  user_id: [],
  group_id: [],
  model: [],
  upstream: [],
  status: [],
  tag: [],
  session: [],
};

interface RowsProps {
  readonly explored: Explored;
  readonly choice: RequestChoice;
  readonly list: RequestPageView;
}

function Rows({ explored, choice, list }: RowsProps) {
  return (
    <RequestTable
      explored={{ ...explored, choice, requests: list.data }}
      empty={<Nothing explored={explored} choice={choice} isOver={list.next === null} />}
    />
  );
}

function Nothing({ explored, choice, isOver }: Omit<RowsProps, "list"> & { readonly isOver: boolean }) {
  if (Object.keys(choice.filters).length > 0 || choice.last !== null) {
    return <>{isOver ? "No requests match." : "None among the latest requests. Search older ones:"}</>;
  }
  return <>No requests yet. {explored.isOwn ? null : <a href={`${explored.base}/try`}>Try it</a>}</>;
}

/** Requests per read of the export: as many as the API allows. */
const EXPORT_PAGE = "100";

/** Downloads the filtered requests, read page by page while they are sent. */
async function downloadRequests(explored: Explored): Promise<PageAnswer> {
  const { page } = explored;
  const organizationId = organizationOf(page);
  const filters = await queryOf(page, readRequestChoice(page));
  const lines = formatRequestsCsv(readAll(explored, filters));
  return {
    text: await openStream(lines, page.options.openExport(organizationId)),
    headers: {
      "content-type": "text/csv; charset=utf-8",
      "content-disposition": `attachment; filename="requests-${organizationId}.csv"`,
    },
  };
}

async function* readAll(
  explored: Explored,
  filters: Readonly<Record<string, string>>,
): AsyncGenerator<readonly RequestView[]> {
  let after: string | null = null;
  do {
    const place: Readonly<Record<string, string>> = after === null ? {} : { after };
    const { body } = await explored.page.api(listOf(explored), {
      query: { ...filters, ...place, limit: EXPORT_PAGE },
    });
    yield body.data;
    after = body.next;
  } while (after !== null);
}

const own = { member: true, key: true } as const;

export const requestPageRoutes: readonly PageRoute[] = [
  { method: "GET", path: PATH, runInOrganization: (page) => showRequests(ofOrganization(page)) },
  { method: "GET", path: `${PATH}.csv`, runInOrganization: (page) => downloadRequests(ofOrganization(page)) },
  { method: "GET", path: `${PATH}/:request`, runInOrganization: showRequest },
  { method: "GET", path: OWN_PATH, ...own, run: (page) => showRequests(ofOwn(page)) },
  { method: "GET", path: `${OWN_PATH}.csv`, ...own, run: (page) => downloadRequests(ofOwn(page)) },
  { method: "GET", path: `${OWN_PATH}/:request`, ...own, run: showOwnRequest },
];
