/** @jsxImportSource hono/jsx */
/** *Users*: the list, a search, and a new one. */
import { formatCount } from "../../format.ts";
import { NO_PROBLEMS, type Problems } from "../form.ts";
import { resolveOwners, suggestOwners } from "../owner-texts.ts";
import { type OrganizationPageCall, type PageAnswer, showPage } from "../page.ts";
import { Form, ProblemSummary } from "../parts/fields.tsx";
import { Layout } from "../parts/layout.tsx";
import { Older, pageQueryOf } from "../parts/older.tsx";
import { OwnerLink } from "../parts/owners.tsx";
import { SEARCHED_FROM, SearchForm } from "../parts/search-form.tsx";
import { SettingFields } from "../parts/setting-fields.tsx";
import { State } from "../parts/state.tsx";
import { RowTable, type RowTableColumns } from "../parts/table.tsx";
import { tightestColumn, WITH_TIGHTEST } from "../parts/tightest-limit.tsx";
import { listProblemFields, readSettings, textsOfForm, USER_FORM } from "../setting-form.ts";
import { submit } from "../submit.ts";
import type { UserView } from "../views.ts";

const LIST = "/api/organizations/{organization}/users";
/** What the API takes. */
const MAX_SEARCH_CHARACTERS = 100;

export function showUsers(page: OrganizationPageCall): Promise<PageAnswer> {
  return renderUsers(page, NO_PROBLEMS);
}

export function createUser(page: OrganizationPageCall): Promise<PageAnswer> {
  return submit({
    send: async () => {
      const settings = await resolveOwners(page.api, readSettings(USER_FORM, page.form, null));
      const { body } = await page.api(`POST ${LIST}`, { body: settings });
      return { redirect: `${page.base}/users/${body.id}?done=made` };
    },
    refused: (problems) => renderUsers(page, problems),
  });
}

/** For the script, which offers users while one is typed. */
export async function suggestUsers(page: OrganizationPageCall): Promise<PageAnswer> {
  const names = await suggestOwners(page.api, "user", page.query.get("search") ?? "");
  return { text: JSON.stringify(names), headers: { "content-type": "application/json" } };
}

async function renderUsers(page: OrganizationPageCall, problems: Problems): Promise<PageAnswer> {
  const path = `${page.base}/users`;
  const search = (page.query.get("search") ?? "").trim().slice(0, MAX_SEARCH_CHARACTERS);
  const query = { ...pageQueryOf(page), ...WITH_TIGHTEST, ...(search === "" ? {} : { search }) };
  const { body } = await page.api(`GET ${LIST}`, { query });
  const { data, next } = body;
  const isWhole = search === "" && next === null && !page.query.has("after");
  return showPage(
    <Layout page={page} title="Users" section="users">
      <ProblemSummary problems={problems} fields={listProblemFields(USER_FORM)} />
      {isWhole && data.length < SEARCHED_FROM ? null : <SearchForm path={path} search={search} />}
      {data.length === 0 ? (
        <Nothing search={search} path={path} />
      ) : (
        <RowTable label="Users" class="stack" columns={columnsOf(page)} rows={data} />
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
        There is no user yet. A user is a person or a service that keys belong to: one who has several keys,
        on a laptop and in a build, is one user, and can be disabled in one place.
      </p>
    );
  }
  return (
    <p class="card empty">
      No user has a name or mail address with a word that begins with “{search}”. <a href={path}>Show all</a>
    </p>
  );
}

/** Also of a group's users. */
export function columnsOf(
  page: Pick<OrganizationPageCall, "base" | "organization">,
): RowTableColumns<UserView> {
  const { base } = page;
  return [
    {
      label: "name",
      cell: (user) => (
        <>
          <OwnerLink base={base} kind="users" owner={user} />
          {user.email === null ? null : <span class="below">{user.email}</span>}
        </>
      ),
    },
    {
      label: "group",
      cell: ({ group }) => (group === null ? "none" : <OwnerLink base={base} kind="groups" owner={group} />),
    },
    { label: "keys", kind: "number", cell: ({ key_count: keys }) => formatCount(keys) },
    tightestColumn(page),
    { label: "state", cell: ({ disabled }) => <State state={disabled ? "disabled" : "active"} /> },
  ];
}

function CreationForm({ page, problems }: { page: OrganizationPageCall; problems: Problems }) {
  return (
    <section class="card" aria-labelledby="create">
      <h2 id="create">Create a user</h2>
      <Form page={page} action={`${page.base}/users`}>
        <SettingFields
          settings={USER_FORM}
          texts={textsOfForm(USER_FORM, page.form)}
          problems={problems}
          base={page.base}
        />
        <button type="submit">Create the user</button>
      </Form>
    </section>
  );
}
