/** One group: its settings, its users, its keys, its end. */
import { formatCountOf } from "../../format.ts";
import { fieldOfOwner } from "../owner-texts.ts";
import type { OrganizationPageCall } from "../page.ts";
import { List, pageQueryOf } from "../parts/table.tsx";
import { OwnedKeys, OwnerDeletion, readKeysOf } from "../parts/owners.tsx";
import { Section } from "../parts/layout.tsx";
import { WITH_TIGHTEST } from "../parts/charts.tsx";
import { Time } from "../parts/inline.tsx";
import { GROUP_FORM } from "../setting-form.ts";
import type { GroupView, UserPageView } from "../views.ts";
import { createOwnerRoutes, ownerPath } from "./owner-page.tsx";
import { userColumns } from "./users.tsx";

export const groupRoutes = createOwnerRoutes({
  scope: "group",
  title: "Group",
  settings: GROUP_FORM,
  deleted: "owner_deleted",
  read: (page) => page.api("GET /api/organizations/{organization}/groups/{group}"),
  describe: (_, group) => <GroupSummary group={group} />,
  showRest,
});

async function showRest(page: OrganizationPageCall, group: GroupView) {
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
