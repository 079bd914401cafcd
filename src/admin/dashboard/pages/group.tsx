/** @jsxImportSource hono/jsx */
/** One group: its settings, its users, its keys, its end. */
import { formatCountOf } from "../../format.ts";
import { NO_PROBLEMS, pickChanges, type Problems } from "../form.ts";
import { fieldOfOwner } from "../owner-texts.ts";
import { type OrganizationPageCall, type PageAnswer, showPage } from "../page.ts";
import { askFirst, isSure } from "../parts/confirmation.tsx";
import { Form, ProblemSummary } from "../parts/fields.tsx";
import { Layout } from "../parts/layout.tsx";
import { readLimits } from "../parts/limits.tsx";
import { Older, pageQueryOf } from "../parts/older.tsx";
import { OwnedKeys, OwnerDeletion, readKeysOf } from "../parts/owners.tsx";
import { OwnerLimits } from "../parts/owner-limits.tsx";
import { SettingFields } from "../parts/setting-fields.tsx";
import { RowTable } from "../parts/table.tsx";
import { WITH_TIGHTEST } from "../parts/tightest-limit.tsx";
import { Time } from "../parts/time.tsx";
import { createRaiseActions, RAISE_FIELDS } from "../raise-form.ts";
import {
  GROUP_FORM,
  listProblemFields,
  readSettings,
  type SettingTexts,
  textsOf,
  textsOfForm,
} from "../setting-form.ts";
import { submit } from "../submit.ts";
import type { GroupView, UserPageView } from "../views.ts";
import { columnsOf } from "./users.tsx";

const ONE = "/api/organizations/{organization}/groups/{group}";

export async function showGroup(page: OrganizationPageCall): Promise<PageAnswer> {
  const { group, etag } = await readGroup(page);
  return renderGroup(page, group, { texts: textsOf(GROUP_FORM, group), problems: NO_PROBLEMS, etag });
}

export async function changeGroup(page: OrganizationPageCall): Promise<PageAnswer> {
  const { group, etag } = await readGroup(page);
  return submit({
    send: async () => {
      const body = pickChanges(readSettings(GROUP_FORM, page.form, group), group);
      await page.api(`PATCH ${ONE}`, { body, ifMatch: page.form.text("etag") });
      return { redirect: `${pathOf(page)}?done=saved` };
    },
    refused: (problems) => {
      const texts = textsOfForm(GROUP_FORM, page.form);
      return renderGroup(page, group, { texts, problems, etag: page.form.text("etag") });
    },
    outdated: () => {
      const message = "Somebody else has changed this group meanwhile. The fields show it as it is now.";
      const problems = new Map([["", message]]);
      return renderGroup(page, group, { texts: textsOf(GROUP_FORM, group), problems, etag });
    },
  });
}

export async function deleteGroup(page: OrganizationPageCall): Promise<PageAnswer> {
  const isWithKeys = page.form.has("keys");
  if (page.canChange && !isSure(page)) {
    const { group } = await readGroup(page);
    const keys = isWithKeys ? " with all its keys" : "";
    return askFirst(page, {
      title: "Delete a group",
      section: "groups",
      text: `Delete the group "${group.name}"${keys}? This cannot be undone.`,
      answer: "Delete",
      back: pathOf(page),
      kept: isWithKeys ? ["keys"] : [],
    });
  }
  await page.api(`DELETE ${ONE}`, { query: isWithKeys ? { keys: "delete" } : {} });
  return { redirect: `${page.base}/groups?done=owner_deleted` };
}

export const { createRaise: raiseGroup, deleteRaise: deleteGroupRaise } = createRaiseActions({
  scope: "group",
  pathOf,
  render: async (page, problems) => {
    const { group, etag } = await readGroup(page);
    return renderGroup(page, group, { texts: textsOf(GROUP_FORM, group), problems, etag });
  },
});

async function readGroup(page: OrganizationPageCall): Promise<{ group: GroupView; etag: string }> {
  const { body, headers } = await page.api(`GET ${ONE}`);
  return { group: body, etag: headers?.["etag"] ?? "*" };
}

function pathOf(page: OrganizationPageCall): string {
  return `${page.base}/groups/${page.params["group"] ?? ""}`;
}

interface FormState {
  readonly texts: SettingTexts;
  readonly problems: Problems;
  /** The version that the fields began from. */
  readonly etag: string;
}

async function renderGroup(
  page: OrganizationPageCall,
  group: GroupView,
  state: FormState,
): Promise<PageAnswer> {
  const path = pathOf(page);
  const query = { ...pageQueryOf(page), ...WITH_TIGHTEST, [fieldOfOwner("group")]: group.id };
  const [keys, limits, { body }] = await Promise.all([
    readKeysOf(page, "group", group.id),
    readLimits(page, "group"),
    page.api("GET /api/organizations/{organization}/users", { query }),
  ]);
  return showPage(
    <Layout
      page={page}
      title={`Group ${group.name}`}
      heading={
        <>
          Group <bdi>{group.name}</bdi>
        </>
      }
      section="groups"
    >
      <GroupSummary group={group} />
      <ProblemSummary
        problems={state.problems}
        fields={[...listProblemFields(GROUP_FORM), ...RAISE_FIELDS]}
      />
      <OwnerLimits
        page={page}
        scope="group"
        path={path}
        raises={group.raises}
        limits={limits}
        problems={state.problems}
      />
      <GroupSettings page={page} path={path} state={state} />
      <Users page={page} users={body} />
      <OwnedKeys
        page={page}
        keys={keys}
        owner={{ kind: "group", id: group.id }}
        empty="No key is of this group itself. The keys of its users count to it where they name no other group."
      />
      <OwnerDeletion page={page} what="group" name={group.name} path={path} keyCount={group.key_count} />
    </Layout>,
    state.problems.size === 0 ? 200 : 400,
  );
}

interface GroupSettingsProps {
  readonly page: OrganizationPageCall;
  readonly path: string;
  readonly state: FormState;
}

function GroupSettings({ page, path, state }: GroupSettingsProps) {
  return (
    <section aria-labelledby="settings">
      <h2 id="settings">Settings</h2>
      <Form page={page} action={path} class="card">
        <input type="hidden" name="etag" value={state.etag} />
        <SettingFields
          settings={GROUP_FORM}
          texts={state.texts}
          problems={state.problems}
          disabled={!page.canChange}
        />
        {page.canChange ? <button type="submit">Save</button> : null}
      </Form>
    </section>
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

function Users({ page, users: { data, next } }: { page: OrganizationPageCall; users: UserPageView }) {
  return (
    <section aria-labelledby="users">
      <h2 id="users">Users</h2>
      {data.length === 0 ? (
        <p class="card empty">Nobody is in this group yet: a user's page has the field for it.</p>
      ) : (
        <RowTable label="Its users" class="stack" columns={columnsOf(page)} rows={data} />
      )}
      <Older page={page} next={next} />
    </section>
  );
}
