/** One user: its settings, its keys, its end. */
import type { OrganizationPageCall } from "../page.ts";
import { OwnerLink, State, Time } from "../parts/inline.tsx";
import { OwnedKeys, OwnerDeletion, readKeysOf } from "../parts/owners.tsx";
import { USER_FORM } from "../setting-form.ts";
import type { UserView } from "../views.ts";
import { createDisabledRoutes, createOwnerRoutes, DisabledSwitch, ownerPath } from "./owner-page.tsx";

export const userRoutes = [
  ...createOwnerRoutes({
    scope: "user",
    title: "User",
    settings: USER_FORM,
    deleted: "owner_deleted",
    read: (page) => page.api("GET /api/organizations/{organization}/users/{user}"),
    describe: (page, user) => <UserSummary page={page} user={user} />,
    showRest,
  }),
  ...createDisabledRoutes("user", { disable: "user_disabled", enable: "user_enabled" }),
];

async function showRest(page: OrganizationPageCall, user: UserView) {
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
