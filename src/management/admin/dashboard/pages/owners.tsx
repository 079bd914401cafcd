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
import { limitLevelOf } from "../limit-words.ts";
import type { GroupView, LimitListView, UserPageView, UserView } from "../views.ts";
import { createDisabledRoutes, createOwnerRoutes, DisabledSwitch, ownerPath } from "./owner-page.tsx";
import { formatCount, formatCountOf } from "../../format.ts";
import { List, pageQueryOf, type RowTableColumns } from "../parts/table.tsx";
import { type ArrangedKind, ArrangedListView, figureColumns, readArranged } from "../parts/arranged-list.tsx";
import { createChosenRoute } from "./chosen.tsx";
import { fieldOfOwner, resolveOwners, suggestOwners } from "../owner-texts.ts";
import { CreationForm, Layout, Section } from "../parts/layout.tsx";
import type { OwnerKind } from "../../../../shared/stored/owner-kinds.ts";
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
    describe: (page, user, limits) => <UserSummary page={page} user={user} limits={limits} />,
    showOwned: async (page, user) => (
      <OwnedKeys
        page={page}
        keys={await readKeysOf(page, "user", user.id)}
        owner={{ kind: "user", id: user.id }}
        empty="No API keys of this user yet."
      />
    ),
    showActions: (page, user) => <UserActions page={page} user={user} />,
  }),
  ...createDisabledRoutes("user", { disable: "user_disabled", enable: "user_enabled" }),
];

function UserActions({ page, user }: Omit<UserSummaryProps, "limits">) {
  const path = ownerPath(page, "user");
  return (
    <div class="columns">
      <DisabledSwitch
        page={page}
        path={path}
        isDisabled={user.disabled}
        meaning="Requests with API keys of this user return 403"
      />
      <OwnerDeletion page={page} kind="user" owner={user} path={path} />
    </div>
  );
}

interface UserSummaryProps extends Stopped {
  readonly page: OrganizationPageCall;
  readonly user: UserView;
}

interface Stopped {
  /** Every limit of the owner's requests. */
  readonly limits: LimitListView;
}

/** State of a user or group: a reached cap of the group or organization also stops it. */
function stateOf({ data }: LimitListView): "cap_reached" | "active" {
  const isStopped = data.some((limit) => limit.kind === "cap" && limitLevelOf(limit) === "reached");
  return isStopped ? "cap_reached" : "active";
}

function UserSummary({ page, user, limits }: UserSummaryProps) {
  return (
    <div class="card">
      <p>
        <State state={user.disabled ? "disabled" : stateOf(limits)} /> created <Time at={user.created_at} />
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
  noun: "user",
  states: ["active", "cap_reached", "disabled"],
  owners: ["group"],
  settings: USER_FORM,
  disabled: "Requests with API keys of disabled users return 403 until you enable them.",
  read: (page, query) => page.api("GET /api/organizations/{organization}/users", { query }),
  columnsOf: userColumns,
  empty:
    "No users yet. A user is a person or service that API keys belong to, with limits for all of them together.",
});

const STATE_COLUMN = {
  label: "state",
  cell: ({ state = "active" }: UserView | GroupView) => <State state={state} />,
};

/** Columns of users, also in a group's page. */
function userColumns(page: OrganizationPageCall): RowTableColumns<UserView> {
  const { base } = page;
  return [
    {
      label: "name",
      sort: "name",
      title: ({ email }) => email ?? "",
      cell: (user) => <OwnerLink base={base} kind="users" owner={user} />,
    },
    { label: "email", kind: "rest", cell: ({ email }) => email },
    {
      label: "group",
      kind: "rest",
      cell: ({ group }) => (group === null ? null : <OwnerLink base={base} kind="groups" owner={group} />),
    },
    { label: "keys", kind: "number", cell: ({ key_count: keys }) => formatCount(keys) },
    STATE_COLUMN,
    ...figureColumns<UserView>("user", page),
  ];
}

export const groupRoutes = createOwnerRoutes({
  scope: "group",
  title: "Group",
  settings: GROUP_FORM,
  deleted: "owner_deleted",
  read: (page) => page.api("GET /api/organizations/{organization}/groups/{group}"),
  describe: (_, group, limits) => <GroupSummary group={group} limits={limits} />,
  showOwned: showOwnedByGroup,
  showActions: (page, group) => (
    <OwnerDeletion page={page} kind="group" owner={group} path={ownerPath(page, "group")} />
  ),
});

const SHOWN_USERS = "20";

async function showOwnedByGroup(page: OrganizationPageCall, group: GroupView) {
  const query = {
    ...pageQueryOf(page),
    sort: "-spend",
    [fieldOfOwner("group")]: group.id,
    limit: SHOWN_USERS,
  };
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
        empty="No API keys are assigned to this group. API keys of its users also count for it, unless they are assigned to another group."
      />
    </>
  );
}

function GroupSummary({ group, limits }: Stopped & { readonly group: GroupView }) {
  return (
    <div class="card">
      <p>
        <State state={stateOf(limits)} /> {formatCountOf(group.user_count, "user")},{" "}
        {formatCountOf(group.key_count, "key")} of its own; created <Time at={group.created_at} />
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
        class="list"
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
  noun: "group",
  states: ["active", "cap_reached"],
  owners: [],
  settings: GROUP_FORM,
  disabled: "",
  read: (page, query) => page.api("GET /api/organizations/{organization}/groups", { query }),
  columnsOf: (page) => [
    {
      label: "name",
      sort: "name",
      cell: (group) => <OwnerLink base={page.base} kind="groups" owner={group} />,
    },
    { label: "users", kind: "number", cell: ({ user_count: users }) => formatCount(users) },
    { label: "keys", kind: "number", cell: ({ key_count: keys }) => formatCount(keys) },
    STATE_COLUMN,
    ...figureColumns<GroupView>("group", page),
  ],
  empty:
    "No groups yet. A group is a team of users and shared API keys. Its members share limits, and each member can have separate ones.",
});

interface Named {
  readonly id: string;
  readonly name: string;
}

interface OwnerList<Row> extends ArrangedKind {
  readonly kind: OwnerKind;
  readonly title: string;
  /** Consequence of disabling one. */
  readonly disabled: string;
  readonly settings: readonly FormSetting[];
  readonly read: (
    page: OrganizationPageCall,
    query: Readonly<Record<string, string>>,
  ) => Promise<{ readonly body: { readonly data: readonly Row[]; readonly next: string | null } }>;
  readonly columnsOf: (page: OrganizationPageCall) => RowTableColumns<Row>;
  /** Text of an empty list. */
  readonly empty: string;
}

function createOwnerListRoutes<Row extends Named>(list: OwnerList<Row>): readonly PageRoute[] {
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
    createChosenRoute(list),
    { method: "GET", path: `${path}/suggestions`, runInOrganization: suggest },
  ];
}

async function renderList<Row extends Named>(
  list: OwnerList<Row>,
  page: OrganizationPageCall,
  problems: Problems,
): Promise<PageAnswer> {
  const { kind, title, settings, read, columnsOf, empty } = list;
  const found = await readArranged<Row>(page, list, (query) => read(page, query));
  const isOpen = problems.size > 0 || found.total_count === 0;
  return showForm(
    <Layout
      page={page}
      title={title}
      section={`${kind}s`}
      action={
        page.canChange ? (
          <CreationForm page={page} noun={`a ${kind}`} action={`${page.base}/${kind}s`} isOpen={isOpen}>
            <ProblemSummary problems={problems} fields={listProblemFields(settings)} />
            <SettingFields
              settings={settings}
              texts={textsOfForm(settings, page.form)}
              problems={problems}
              base={page.base}
            />
          </CreationForm>
        ) : null
      }
    >
      <ArrangedListView page={page} kind={list} list={found} columns={columnsOf(page)} empty={empty} />
    </Layout>,
    problems,
  );
}
