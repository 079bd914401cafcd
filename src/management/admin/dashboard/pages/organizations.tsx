/** Operator's start page: all organizations, and a form for a new one. */
import { ORGANIZATION_SETTINGS } from "../../../../shared/settings/organization.ts";
import { isOnlyOwn } from "../../principal.ts";
import { NO_PROBLEMS, type Problems } from "../form.ts";
import { type PageAnswer, type PageCall, type PageRoute, showForm, showPage, submit } from "../page.ts";
import { ORGANIZATION_STATES } from "../../../../shared/settings/state.ts";
import { type ArrangedKind, ArrangedListView, readArranged, spendColumns } from "../parts/arranged-list.tsx";
import { createChosenRoute } from "./chosen.tsx";
import { ProblemSummary } from "../parts/fields.tsx";
import { CreationForm, Layout } from "../parts/layout.tsx";
import { List, pageQueryOf, type RowTableColumns, searchOf } from "../parts/table.tsx";
import { SettingFields } from "../parts/setting-fields.tsx";
import { State } from "../parts/inline.tsx";
import { sectionPath } from "../sections.ts";
import { listFormSettings, listProblemFields, readSettings, textsOfForm } from "../setting-form.ts";
import type { OrganizationPageView, OrganizationView } from "../views.ts";

const PATH = "/organizations";
const LIST = "/api/organizations";
const SUGGESTIONS = 10;
/** Results of a search among which one with exactly that name is opened. */
const MAX_FOUND = 50;
const USUAL_CURRENCY = "USD";
/** Settings asked for at creation; the others are on *Inference settings*. */
const CREATION_FORM = listFormSettings(ORGANIZATION_SETTINGS).filter(
  ({ path, row: { kind } }) => path === "limits" || (!path.includes(".") && kind.notation === "text"),
);

/** Shows the operator's list, or the one organization of a token. */
async function showStart(page: PageCall): Promise<PageAnswer> {
  const { principal } = page;
  if (principal.type === "operator") return { redirect: PATH };
  const own = isOnlyOwn(principal) ? "/me" : "";
  return { redirect: `${PATH}/${principal.organizationId}${own}` };
}

async function showOrganizations(page: PageCall): Promise<PageAnswer> {
  if (!page.isOperator) return showStart(page);
  const only = await findOnly(page);
  return only === null
    ? renderOrganizations(page, NO_PROBLEMS)
    : { redirect: `${PATH}/${only.id}${sectionPath(page.query.get("to"))}` };
}

/** Returns the organization that a search opens directly: the only result, or the only one with exactly that name. */
async function findOnly(page: PageCall): Promise<OrganizationView | null> {
  if (!page.query.has("to") || searchOf(page) === "") return null;
  const { data, next } = await readOrganizations(page);
  const same = data.filter(({ name }) => name === searchOf(page));
  const [only] = same.length === 1 ? same : data;
  return only !== undefined && next === null && (same.length === 1 || data.length === 1) ? only : null;
}

/** Returns names for the script's suggestions. */
async function suggestOrganizations(page: PageCall): Promise<PageAnswer> {
  const found = page.isOperator && searchOf(page) !== "" ? (await readOrganizations(page)).data : [];
  const names = found.slice(0, SUGGESTIONS).map(({ name }) => name);
  return { text: JSON.stringify([...new Set(names)]), headers: { "content-type": "application/json" } };
}

async function readOrganizations(page: PageCall): Promise<OrganizationPageView> {
  const query = { search: searchOf(page), limit: String(MAX_FOUND) };
  return (await page.api(`GET ${LIST}`, { query })).body;
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

const ORGANIZATIONS: ArrangedKind = {
  kind: "organization",
  noun: "organization",
  states: ORGANIZATION_STATES.filter((state) => state !== "deleted"),
  owners: [],
};

async function renderOrganizations(page: PageCall, problems: Problems): Promise<PageAnswer> {
  const list = await readArranged<ListedOrganization>(page, ORGANIZATIONS, (query) =>
    page.api(`GET ${LIST}`, { query }),
  );
  const texts = page.form.has("name") ? textsOfForm(CREATION_FORM, page.form) : { currency: USUAL_CURRENCY };
  return showForm(
    <Layout
      page={page}
      title="Organizations"
      section="organizations"
      action={
        <CreationForm
          page={page}
          noun="an organization"
          action={PATH}
          isOpen={problems.size > 0 || (searchOf(page) === "" && list.total_count === 0)}
        >
          <ProblemSummary problems={problems} fields={listProblemFields(CREATION_FORM)} />
          <SettingFields settings={CREATION_FORM} texts={texts} problems={problems} />
        </CreationForm>
      }
    >
      <ArrangedListView
        page={page}
        kind={ORGANIZATIONS}
        list={list}
        columns={COLUMNS}
        empty="No organizations yet. Create the first one."
      />
      <p>
        <a href={`${PATH}/deleted`}>Deleted organizations</a> · <a href="/sessions">Operator's sessions</a>
      </p>
    </Layout>,
    problems,
  );
}

/** Shows deleted organizations whose usage is still kept. */
async function showDeleted(page: PageCall): Promise<PageAnswer> {
  const { body } = await page.api(`GET ${LIST}`, { query: { ...pageQueryOf(page), deleted: "true" } });
  return showPage(
    <Layout page={page} title="Deleted organizations" section="organizations">
      <List
        page={page}
        label="Deleted organizations"
        list={body}
        columns={COLUMNS}
        empty="No deleted organizations whose usage is still stored."
      />
    </Layout>,
  );
}

type ListedOrganization = OrganizationPageView["data"][number];

const COLUMNS: RowTableColumns<ListedOrganization> = [
  {
    label: "name",
    sort: "name",
    title: ({ id }) => id,
    cell: ({ id, name }) => (
      <a href={`${PATH}/${id}`}>
        <bdi>{name}</bdi>
      </a>
    ),
  },
  { label: "state", cell: ({ state }) => <State state={state} /> },
  ...spendColumns<ListedOrganization>("organization", ({ currency }) => currency),
];

export const organizationPageRoutes: readonly PageRoute[] = [
  { method: "GET", path: "/", member: true, key: true, run: showStart },
  { method: "GET", path: PATH, run: showOrganizations },
  { method: "GET", path: `${PATH}/suggestions`, run: suggestOrganizations },
  { method: "GET", path: `${PATH}/deleted`, access: "operator", run: showDeleted },
  { method: "POST", path: PATH, access: "operator", run: createOrganization },
  createChosenRoute({
    ...ORGANIZATIONS,
    settings: CREATION_FORM.filter(({ path }) => path === "limits"),
    disabled: "Requests with API keys of suspended organizations return 403 until you resume them.",
  }),
];
