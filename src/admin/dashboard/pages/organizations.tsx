/** @jsxImportSource hono/jsx */
/** The operator's start page: all organizations, and a new one. */
import { ORGANIZATION_SETTINGS } from "../../../settings/organization.ts";
import { NO_PROBLEMS, type Problems } from "../form.ts";
import { formatLimit, formatMoney } from "../../format.ts";
import { type PageAnswer, type PageCall, type PageRoute, showPage } from "../page.ts";
import { SpendBar } from "../parts/charts.tsx";
import { Form, ProblemSummary } from "../parts/fields.tsx";
import { Layout } from "../parts/layout.tsx";
import { SEARCHED_FROM, SearchForm } from "../parts/search-form.tsx";
import { SettingFields } from "../parts/setting-fields.tsx";
import { State } from "../parts/state.tsx";
import { RowTable, type RowTableColumns } from "../parts/table.tsx";
import { sectionPath } from "../sections.ts";
import { Older, pageQueryOf } from "../parts/older.tsx";
import { listFormSettings, listProblemFields, readSettings, textsOfForm } from "../setting-form.ts";
import { spendingOf } from "../spending.ts";
import { submit } from "../submit.ts";
import type { OrganizationPageView, OrganizationView } from "../views.ts";

const PATH = "/organizations";
const LIST = "/api/organizations";
/** What the API takes. */
const MAX_SEARCH_CHARACTERS = 100;
const SUGGESTIONS = 10;
const USUAL_CURRENCY = "USD";
/** What is asked at first; the rest is set on *Inference settings*. */
const CREATION_FORM = listFormSettings(ORGANIZATION_SETTINGS).filter(
  ({ path, row: { kind } }) =>
    !path.includes(".") && (kind.notation === "text" || kind.notation === "amount"),
);

/** The operator's list, or the one organization that a token is for. */
async function showStart(page: PageCall): Promise<PageAnswer> {
  const { principal } = page;
  if (principal.type === "operator") return { redirect: PATH };
  const own = principal.role === "member" ? "/me" : "";
  return { redirect: `${PATH}/${principal.organizationId}${own}` };
}

async function showOrganizations(page: PageCall): Promise<PageAnswer> {
  if (!page.isOperator) return showStart(page);
  const only = await findOnly(page);
  return only === null
    ? renderOrganizations(page, NO_PROBLEMS)
    : { redirect: `${PATH}/${only.id}${sectionPath(page.query.get("to"))}` };
}

/** What the search in the head of a page leads to at once: the only one it finds, or the only one of that very name. */
async function findOnly(page: PageCall): Promise<OrganizationView | null> {
  if (!page.query.has("to") || searchOf(page) === "") return null;
  const { data, next } = await readOrganizations(page);
  const same = data.filter(({ name }) => name === searchOf(page));
  const [only] = same.length === 1 ? same : data;
  return only !== undefined && next === null && (same.length === 1 || data.length === 1) ? only : null;
}

/** For the script, which offers names while one is typed. */
async function suggestOrganizations(page: PageCall): Promise<PageAnswer> {
  const found = page.isOperator && searchOf(page) !== "" ? (await readOrganizations(page)).data : [];
  const names = found.slice(0, SUGGESTIONS).map(({ name }) => name);
  return { text: JSON.stringify([...new Set(names)]), headers: { "content-type": "application/json" } };
}

function searchOf(page: PageCall): string {
  return (page.query.get("search") ?? "").trim().slice(0, MAX_SEARCH_CHARACTERS);
}

async function readOrganizations(page: PageCall): Promise<OrganizationPageView> {
  const search = searchOf(page);
  const query = { ...pageQueryOf(page), ...(search === "" ? {} : { search }) };
  const { body } = await page.api(`GET ${LIST}`, { query });
  return body;
}

function createOrganization(page: PageCall): Promise<PageAnswer> {
  return submit({
    send: async () => {
      const { body } = await page.api(`POST ${LIST}`, { body: readSettings(CREATION_FORM, page.form, null) });
      return { redirect: `${PATH}/${body.id}` };
    },
    refused: (problems) => renderOrganizations(page, problems),
  });
}

async function renderOrganizations(page: PageCall, problems: Problems): Promise<PageAnswer> {
  const { data, next } = await readOrganizations(page);
  const search = searchOf(page);
  const isWhole = search === "" && next === null && !page.query.has("after");
  return showPage(
    <Layout page={page} title="Organizations">
      <ProblemSummary problems={problems} fields={listProblemFields(CREATION_FORM)} />
      {isWhole && data.length < SEARCHED_FROM ? null : <SearchForm path={PATH} search={search} />}
      {data.length === 0 ? (
        <p class="card empty">
          {search === "" ? (
            "There is no organization yet. Create the first one below."
          ) : (
            <>
              No organization has “{search}” in its name{next === null ? "" : " so far"}.{" "}
              <a href={PATH}>Show all</a>
            </>
          )}
        </p>
      ) : (
        <RowTable label="Organizations" class="stack" columns={COLUMNS} rows={data} />
      )}
      <Older page={page} next={next} />
      <p>
        <a href={`${PATH}/deleted`}>Deleted organizations</a> · <a href="/sessions">Operator's sessions</a>
      </p>
      <CreationForm page={page} problems={problems} />
    </Layout>,
    problems.size === 0 ? 200 : 400,
  );
}

/** Those whose usage is still kept. */
async function showDeleted(page: PageCall): Promise<PageAnswer> {
  const { body } = await page.api(`GET ${LIST}`, { query: { ...pageQueryOf(page), deleted: "true" } });
  const { data, next } = body;
  return showPage(
    <Layout page={page} title="Deleted organizations">
      {data.length === 0 ? (
        <p class="card empty">There is no deleted organization whose usage is still kept.</p>
      ) : (
        <RowTable label="Deleted organizations" class="stack" columns={COLUMNS} rows={data} />
      )}
      <Older page={page} next={next} />
    </Layout>,
  );
}

const COLUMNS: RowTableColumns<OrganizationView> = [
  {
    label: "name",
    cell: ({ id, name }) => (
      <>
        <a href={`${PATH}/${id}`}>
          <bdi>{name}</bdi>
        </a>
        <span class="below code">{id}</span>
      </>
    ),
  },
  { label: "state", cell: ({ state }) => <State state={state} /> },
  {
    label: "spent this month",
    short: "spent",
    kind: "wide",
    cell: (organization) => (
      <>
        <SpendBar spending={spendingOf(organization)} currency={organization.currency} />
        <span class="below">{formatMoney(organization.spent_microcents, organization.currency)}</span>
      </>
    ),
  },
  {
    label: "hard cap",
    kind: "number",
    cell: (organization) => formatLimit(spendingOf(organization).monthCapCents, organization.currency),
  },
];

function CreationForm({ page, problems }: { page: PageCall; problems: Problems }) {
  const texts = page.form.has("name") ? textsOfForm(CREATION_FORM, page.form) : { currency: USUAL_CURRENCY };
  return (
    <section class="card" aria-labelledby="create">
      <h2 id="create">Create an organization</h2>
      <Form page={page} action={PATH}>
        <SettingFields settings={CREATION_FORM} texts={texts} problems={problems} />
        <button type="submit">Create the organization</button>
      </Form>
    </section>
  );
}

export const organizationPageRoutes: readonly PageRoute[] = [
  { method: "GET", path: "/", member: true, run: showStart },
  { method: "GET", path: PATH, run: showOrganizations },
  { method: "GET", path: `${PATH}/suggestions`, run: suggestOrganizations },
  { method: "GET", path: `${PATH}/deleted`, access: "operator", run: showDeleted },
  { method: "POST", path: PATH, access: "operator", run: createOrganization },
];
