/** @jsxImportSource hono/jsx */
/** One user: its settings, its keys, its end. */
import { NO_PROBLEMS, pickChanges, type Problems } from "../form.ts";
import { resolveOwners } from "../owner-texts.ts";
import { type OrganizationPageCall, type PageAnswer, showPage } from "../page.ts";
import { askFirst, isSure } from "../parts/confirmation.tsx";
import { Form, ProblemSummary } from "../parts/fields.tsx";
import { Layout } from "../parts/layout.tsx";
import { readLimits } from "../parts/limits.tsx";
import { OwnedKeys, OwnerDeletion, OwnerLink, readKeysOf } from "../parts/owners.tsx";
import { OwnerLimits } from "../parts/owner-limits.tsx";
import { SettingFields } from "../parts/setting-fields.tsx";
import { State } from "../parts/state.tsx";
import { Time } from "../parts/time.tsx";
import { createRaiseActions, RAISE_FIELDS } from "../raise-form.ts";
import {
  listProblemFields,
  readSettings,
  type SettingTexts,
  textsOf,
  textsOfForm,
  USER_FORM,
} from "../setting-form.ts";
import { submit } from "../submit.ts";
import type { UserView } from "../views.ts";

const ONE = "/api/organizations/{organization}/users/{user}";

export async function showUser(page: OrganizationPageCall): Promise<PageAnswer> {
  const { user, etag } = await readUser(page);
  return renderUser(page, user, { texts: textsOf(USER_FORM, user), problems: NO_PROBLEMS, etag });
}

export async function changeUser(page: OrganizationPageCall): Promise<PageAnswer> {
  const { user, etag } = await readUser(page);
  return submit({
    send: async () => {
      const wanted = await resolveOwners(page.api, readSettings(USER_FORM, page.form, user));
      const body = pickChanges(wanted, user);
      await page.api(`PATCH ${ONE}`, { body, ifMatch: page.form.text("etag") });
      return { redirect: `${pathOf(page)}?done=saved` };
    },
    refused: (problems) => {
      const texts = textsOfForm(USER_FORM, page.form);
      return renderUser(page, user, { texts, problems, etag: page.form.text("etag") });
    },
    outdated: () => {
      const message = "Somebody else has changed this user meanwhile. The fields show it as it is now.";
      const problems = new Map([["", message]]);
      return renderUser(page, user, { texts: textsOf(USER_FORM, user), problems, etag });
    },
  });
}

/** Disables or enables. */
export function setUserDisabled(disabled: boolean): (page: OrganizationPageCall) => Promise<PageAnswer> {
  return async (page) => {
    await page.api(`PATCH ${ONE}`, { body: { disabled } });
    return { redirect: `${pathOf(page)}?done=${disabled ? "user_disabled" : "user_enabled"}` };
  };
}

export async function deleteUser(page: OrganizationPageCall): Promise<PageAnswer> {
  const isWithKeys = page.form.has("keys");
  if (page.canChange && !isSure(page)) {
    const { user } = await readUser(page);
    const keys = isWithKeys ? " with all its keys" : "";
    return askFirst(page, {
      title: "Delete a user",
      section: "users",
      text: `Delete the user "${user.name}"${keys}? This cannot be undone.`,
      answer: "Delete",
      back: pathOf(page),
      kept: isWithKeys ? ["keys"] : [],
    });
  }
  await page.api(`DELETE ${ONE}`, { query: isWithKeys ? { keys: "delete" } : {} });
  return { redirect: `${page.base}/users?done=owner_deleted` };
}

export const { createRaise: raiseUser, deleteRaise: deleteUserRaise } = createRaiseActions({
  scope: "user",
  pathOf,
  render: async (page, problems) => {
    const { user, etag } = await readUser(page);
    return renderUser(page, user, { texts: textsOf(USER_FORM, user), problems, etag });
  },
});

async function readUser(page: OrganizationPageCall): Promise<{ user: UserView; etag: string }> {
  const { body, headers } = await page.api(`GET ${ONE}`);
  return { user: body, etag: headers?.["etag"] ?? "*" };
}

function pathOf(page: OrganizationPageCall): string {
  return `${page.base}/users/${page.params["user"] ?? ""}`;
}

interface FormState {
  readonly texts: SettingTexts;
  readonly problems: Problems;
  /** The version that the fields began from. */
  readonly etag: string;
}

async function renderUser(page: OrganizationPageCall, user: UserView, state: FormState): Promise<PageAnswer> {
  const [keys, limits] = await Promise.all([readKeysOf(page, "user", user.id), readLimits(page, "user")]);
  const path = pathOf(page);
  return showPage(
    <Layout
      page={page}
      title={`User ${user.name}`}
      heading={
        <>
          User <bdi>{user.name}</bdi>
        </>
      }
      section="users"
    >
      <UserSummary page={page} user={user} />
      <ProblemSummary problems={state.problems} fields={[...listProblemFields(USER_FORM), ...RAISE_FIELDS]} />
      <OwnerLimits
        page={page}
        scope="user"
        path={path}
        raises={user.raises}
        limits={limits}
        problems={state.problems}
      />
      <section aria-labelledby="settings">
        <h2 id="settings">Settings</h2>
        <Form page={page} action={path} class="card">
          <input type="hidden" name="etag" value={state.etag} />
          <SettingFields
            settings={USER_FORM}
            texts={state.texts}
            problems={state.problems}
            base={page.base}
            disabled={!page.canChange}
          />
          {page.canChange ? <button type="submit">Save</button> : null}
        </Form>
      </section>
      <OwnedKeys
        page={page}
        keys={keys}
        owner={{ kind: "user", id: user.id }}
        empty="No key belongs to this user yet."
      />
      {page.canChange ? <UserActions page={page} user={user} path={path} /> : null}
    </Layout>,
    state.problems.size === 0 ? 200 : 400,
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

interface ActionsProps {
  readonly page: OrganizationPageCall;
  readonly user: UserView;
  readonly path: string;
}

function UserActions({ page, user, path }: ActionsProps) {
  return (
    <div class="columns">
      <section class="card" aria-labelledby="pause">
        <h2 id="pause">{user.disabled ? "Enable" : "Disable"}</h2>
        <p>
          {user.disabled
            ? "All keys of the user are refused."
            : "All keys of the user are refused until it is enabled again."}
        </p>
        <Form page={page} action={`${path}/${user.disabled ? "enable" : "disable"}`}>
          <button type="submit">{user.disabled ? "Enable" : "Disable"}</button>
        </Form>
      </section>
      <OwnerDeletion page={page} what="user" name={user.name} path={path} keyCount={user.key_count} />
    </div>
  );
}
