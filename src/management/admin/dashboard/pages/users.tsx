/** *Users*: the list, a search, and a new one. */
import { formatCount } from "../../format.ts";
import type { OrganizationPageCall } from "../page.ts";
import { OwnerLink, State } from "../parts/inline.tsx";
import type { RowTableColumns } from "../parts/table.tsx";
import { tightestColumn } from "../parts/charts.tsx";
import { USER_FORM } from "../setting-form.ts";
import type { UserView } from "../views.ts";
import { createOwnerListRoutes } from "./owner-list.tsx";

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

/** Also of a group's users. */
export function userColumns(page: OrganizationPageCall): RowTableColumns<UserView> {
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
