/** *Groups*: the list, a search, and a new one. */
import { formatCount } from "../../format.ts";
import { OwnerLink } from "../parts/inline.tsx";
import { tightestColumn } from "../parts/charts.tsx";
import { GROUP_FORM } from "../setting-form.ts";
import type { GroupView } from "../views.ts";
import { createOwnerListRoutes } from "./owner-list.tsx";

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
