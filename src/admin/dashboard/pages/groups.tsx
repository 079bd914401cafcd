/** @jsxImportSource hono/jsx */
/** *Groups*: the list, a search, and a new one. */
import { formatCount } from "../../format.ts";
import { NO_PROBLEMS, type Problems } from "../form.ts";
import { suggestOwners } from "../owner-texts.ts";
import { type OrganizationPageCall, type PageAnswer, showPage } from "../page.ts";
import { Form, ProblemSummary } from "../parts/fields.tsx";
import { Layout } from "../parts/layout.tsx";
import { Older, pageQueryOf } from "../parts/older.tsx";
import { OwnerLink } from "../parts/owners.tsx";
import { SEARCHED_FROM, SearchForm } from "../parts/search-form.tsx";
import { SettingFields } from "../parts/setting-fields.tsx";
import { RowTable, type RowTableColumns } from "../parts/table.tsx";
import { tightestColumn, WITH_TIGHTEST } from "../parts/tightest-limit.tsx";
import { GROUP_FORM, listProblemFields, readSettings, textsOfForm } from "../setting-form.ts";
import { submit } from "../submit.ts";
import type { GroupView } from "../views.ts";

const LIST = "/api/organizations/{organization}/groups";
/** What the API takes. */
const MAX_SEARCH_CHARACTERS = 100;

export function showGroups(page: OrganizationPageCall): Promise<PageAnswer> {
  return renderGroups(page, NO_PROBLEMS);
}

export function createGroup(page: OrganizationPageCall): Promise<PageAnswer> {
  return submit({
    send: async () => {
      const { body } = await page.api(`POST ${LIST}`, { body: readSettings(GROUP_FORM, page.form, null) });
      return { redirect: `${page.base}/groups/${body.id}?done=made` };
    },
    refused: (problems) => renderGroups(page, problems),
  });
}

/** For the script, which offers groups while one is typed. */
export async function suggestGroups(page: OrganizationPageCall): Promise<PageAnswer> {
  const names = await suggestOwners(page.api, "group", page.query.get("search") ?? "");
  return { text: JSON.stringify(names), headers: { "content-type": "application/json" } };
}

async function renderGroups(page: OrganizationPageCall, problems: Problems): Promise<PageAnswer> {
  const path = `${page.base}/groups`;
  const search = (page.query.get("search") ?? "").trim().slice(0, MAX_SEARCH_CHARACTERS);
  const query = { ...pageQueryOf(page), ...WITH_TIGHTEST, ...(search === "" ? {} : { search }) };
  const { body } = await page.api(`GET ${LIST}`, { query });
  const { data, next } = body;
  const isWhole = search === "" && next === null && !page.query.has("after");
  return showPage(
    <Layout page={page} title="Groups" section="groups">
      <ProblemSummary problems={problems} fields={listProblemFields(GROUP_FORM)} />
      {isWhole && data.length < SEARCHED_FROM ? null : <SearchForm path={path} search={search} />}
      {data.length === 0 ? (
        <Nothing search={search} path={path} />
      ) : (
        <RowTable label="Groups" class="stack" columns={columnsOf(page)} rows={data} />
      )}
      <Older page={page} next={next} />
      {page.canChange ? <CreationForm page={page} problems={problems} /> : null}
    </Layout>,
    problems.size === 0 ? 200 : 400,
  );
}

function Nothing({ search, path }: { search: string; path: string }) {
  if (search === "") {
    return (
      <p class="card empty">
        There is no group yet. A group is a team: users belong to it, and so do keys that are no single
        person's, as of a build or a shared service. What all of them may spend together is its pool, and each
        member can have a limit apart from the others.
      </p>
    );
  }
  return (
    <p class="card empty">
      No group has a name with a word that begins with “{search}”. <a href={path}>Show all</a>
    </p>
  );
}

function columnsOf(page: OrganizationPageCall): RowTableColumns<GroupView> {
  const { base } = page;
  return [
    { label: "name", cell: (group) => <OwnerLink base={base} kind="groups" owner={group} /> },
    { label: "users", kind: "number", cell: ({ user_count: users }) => formatCount(users) },
    { label: "keys", kind: "number", cell: ({ key_count: keys }) => formatCount(keys) },
    tightestColumn(page),
    { label: "note", cell: ({ note }) => note ?? "none" },
  ];
}

function CreationForm({ page, problems }: { page: OrganizationPageCall; problems: Problems }) {
  return (
    <section class="card" aria-labelledby="create">
      <h2 id="create">Create a group</h2>
      <Form page={page} action={`${page.base}/groups`}>
        <SettingFields settings={GROUP_FORM} texts={textsOfForm(GROUP_FORM, page.form)} problems={problems} />
        <button type="submit">Create the group</button>
      </Form>
    </section>
  );
}
