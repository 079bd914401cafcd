/** *Users* and *Groups*: lists with a search and a creation form, and the page of each. */
import { type OrganizationPageCall, type PageAnswer, type PageRoute, showForm, submit } from "../page.ts";
import { OwnerLink, State, Time } from "../parts/inline.tsx";
import { OwnedKeys, OwnerDeletion, readKeysOf } from "../parts/owners.tsx";
import {
  type FormSetting,
  GROUP_FORM,
  listProblemFields,
  readSettings,
  textsOfForm,
  USER_FORM,
} from "../setting-form.ts";
import type { GroupView, UserPageView, UserView } from "../views.ts";
import { createDisabledRoutes, createOwnerRoutes, DisabledSwitch, ownerPath } from "./owner-page.tsx";
import { formatCount, formatCountOf } from "../../format.ts";
import {
  List,
  pageQueryOf,
  type RowTableColumns,
  SearchForm,
  searchOf,
  searchQueryOf,
} from "../parts/table.tsx";
import { tightestColumn, WITH_TIGHTEST } from "../parts/charts.tsx";
import { fieldOfOwner, resolveOwners, suggestOwners } from "../owner-texts.ts";
import { CreationForm, Layout, Section } from "../parts/layout.tsx";
import type { OwnerKind } from "../../../../data-path/store/types/owner-kinds.ts";
import { NO_PROBLEMS, type Problems } from "../form.ts";
import { ProblemSummary } from "../parts/fields.tsx";
import { SettingFields } from "../parts/setting-fields.tsx";

export const userRoutes = [
  ...createOwnerRoutes({
    scope: "user",
    title: "User",
    settings: USER_FORM,
    deleted: "owner_deleted",
    read: (page) => page.api("GET /api/organizations/{organization}/users/{user}"),
    describe: (page, user) => <UserSummary page={page} user={user} />,
    showRest: showUserRest,
  }),
  ...createDisabledRoutes("user", { disable: "user_disabled", enable: "user_enabled" }),
];

async function showUserRest(page: OrganizationPageCall, user: UserView) {
  const path = ownerPath(page, "user");
  return (
    <>
      <OwnedKeys
        page={page}
        keys={await readKeysOf(page, "user", user.id)}
        owner={{ kind: "user", id: user.id }}
        empty="No API keys of this user yet."
      />
      {page.canChange ? (
        <div class="columns">
          <DisabledSwitch
            page={page}
            path={path}
            isDisabled={user.disabled}
            meaning="Requests with API keys of this user return 403"
          />
          <OwnerDeletion page={page} what="user" owner={user} path={path} />
        </div>
      ) : null}
    </>
  );
}

function UserSummary({ page, user }: { page: OrganizationPageCall; user: UserView }) {
  return (
    <div class="card">
      <p>
        <State state={user.disabled ? "disabled" : "active"} /> made <Time at={user.created_at} />
      </p>
      <p>
        {user.group === null ? (
          "In no group"
        ) : (
          <>
            In the group <OwnerLink base={page.base} kind="groups" owner={user.group} />
          </>
        )}
      </p>
      {user.external === null ? null : (
        <p>
          Signs in as <code>{user.external.subject}</code> of <code>{user.external.issuer}</code>
        </p>
      )}
      <p class="quiet">
        Id <code>{user.id}</code>
      </p>
    </div>
  );
}

export const userListRoutes = createOwnerListRoutes<UserView>({
  kind: "user",
  title: "Users",
  settings: USER_FORM,
  read: (page, query) => page.api("GET /api/organizations/{organization}/users", { query }),
  columnsOf: userColumns,
  empty:
    "No users yet. A user is a person or service that API keys belong to, with limits for all of them together.",
  searched: "a name or email address",
});

/** Columns of users, also in a group's page. */
function userColumns(page: OrganizationPageCall): RowTableColumns<UserView> {
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

export const groupRoutes = createOwnerRoutes({
  scope: "group",
  title: "Group",
  settings: GROUP_FORM,
  deleted: "owner_deleted",
  read: (page) => page.api("GET /api/organizations/{organization}/groups/{group}"),
  describe: (_, group) => <GroupSummary group={group} />,
  showRest: showGroupRest,
});

async function showGroupRest(page: OrganizationPageCall, group: GroupView) {
  const query = { ...pageQueryOf(page), ...WITH_TIGHTEST, [fieldOfOwner("group")]: group.id };
  const [keys, { body }] = await Promise.all([
    readKeysOf(page, "group", group.id),
    page.api("GET /api/organizations/{organization}/users", { query }),
  ]);
  return (
    <>
      <Users page={page} users={body} />
      <OwnedKeys
        page={page}
        keys={keys}
        owner={{ kind: "group", id: group.id }}
        empty="No API keys with this group of their own. API keys of its users also count for it, unless they name another group."
      />
      <OwnerDeletion page={page} what="group" owner={group} path={ownerPath(page, "group")} />
    </>
  );
}

function GroupSummary({ group }: { group: GroupView }) {
  return (
    <div class="card">
      <p>
        {formatCountOf(group.user_count, "user")}, {formatCountOf(group.key_count, "key")} of its own; made{" "}
        <Time at={group.created_at} />
      </p>
      <p class="quiet">
        Id <code>{group.id}</code>
      </p>
    </div>
  );
}

function Users({ page, users }: { page: OrganizationPageCall; users: UserPageView }) {
  return (
    <Section id="users" title="Users">
      <List
        page={page}
        label="Its users"
        list={users}
        columns={userColumns(page)}
        empty="No users in this group yet. Set the group on a user's page."
      />
    </Section>
  );
}

export const groupListRoutes = createOwnerListRoutes<GroupView>({
  kind: "group",
  title: "Groups",
  settings: GROUP_FORM,
  read: (page, query) => page.api("GET /api/organizations/{organization}/groups", { query }),
  columnsOf: (page) => [
    { label: "name", cell: (group) => <OwnerLink base={page.base} kind="groups" owner={group} /> },
    { label: "users", kind: "number", cell: ({ user_count: users }) => formatCount(users) },
    { label: "keys", kind: "number", cell: ({ key_count: keys }) => formatCount(keys) },
    tightestColumn(page),
    { label: "note", cell: ({ note }) => note ?? "none" },
  ],
  empty:
    "No groups yet. A group is a team of users and shared API keys. Its members share limits, and each member can have separate ones.",
  searched: "a name",
});

interface OwnerList<Row> {
  readonly kind: OwnerKind;
  readonly title: string;
  readonly settings: readonly FormSetting[];
  readonly read: (
    page: OrganizationPageCall,
    query: Readonly<Record<string, string>>,
  ) => Promise<{ readonly body: { readonly data: readonly Row[]; readonly next: string | null } }>;
  readonly columnsOf: (page: OrganizationPageCall) => RowTableColumns<Row>;
  /** Text of an empty list. */
  readonly empty: string;
  /** Description of the searched texts: "a name". */
  readonly searched: string;
}

function createOwnerListRoutes<Row>(list: OwnerList<Row>): readonly PageRoute[] {
  const { kind, settings } = list;
  const path = `/organizations/:organization/${kind}s`;
  const create = (page: OrganizationPageCall): Promise<PageAnswer> =>
    submit({
      send: async () => {
        const body = await resolveOwners(page.api, readSettings(settings, page.form, null));
        const made = await page.api(`POST /api/organizations/{organization}/${kind}s` as const, { body });
        return { redirect: `${page.base}/${kind}s/${made.body.id}?done=made` };
      },
      refused: (problems) => renderList(list, page, problems),
    });
  /** Returns names for the script's suggestions. */
  const suggest = async (page: OrganizationPageCall): Promise<PageAnswer> => {
    const names = await suggestOwners(page.api, kind, page.query.get("search") ?? "");
    return { text: JSON.stringify(names), headers: { "content-type": "application/json" } };
  };
  return [
    { method: "GET", path, runInOrganization: (page) => renderList(list, page, NO_PROBLEMS) },
    { method: "POST", path, runInOrganization: create },
    { method: "GET", path: `${path}/suggestions`, runInOrganization: suggest },
  ];
}

async function renderList<Row>(
  { kind, title, settings, read, columnsOf, empty, searched }: OwnerList<Row>,
  page: OrganizationPageCall,
  problems: Problems,
): Promise<PageAnswer> {
  const path = `${page.base}/${kind}s`;
  const search = searchOf(page);
  const { body } = await read(page, { ...searchQueryOf(page), ...WITH_TIGHTEST });
  const notFound = (
    <>
      No {kind} has {searched} with a word that begins with “{search}”. <a href={path}>Show all</a>
    </>
  );
  return showForm(
    <Layout page={page} title={title} section={`${kind}s`}>
      <ProblemSummary problems={problems} fields={listProblemFields(settings)} />
      <SearchForm page={page} list={body} path={path} />
      <List
        page={page}
        label={title}
        list={body}
        columns={columnsOf(page)}
        empty={search === "" ? empty : notFound}
      />
      {page.canChange ? (
        <CreationForm page={page} what={`a ${kind}`} action={path}>
          <SettingFields
            settings={settings}
            texts={textsOfForm(settings, page.form)}
            problems={problems}
            base={page.base}
          />
        </CreationForm>
      ) : null}
    </Layout>,
    problems,
  );
}
