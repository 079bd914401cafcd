/** Shared code of the pages of one key, one user and one group. */
import type { Child } from "hono/jsx";
import { type OrganizationPageCall, type PageAnswer, type PageRoute, showForm } from "../page.ts";
import { showConfirmation, isSure, Layout, Section } from "../parts/layout.tsx";
import { Form, ProblemSummary } from "../parts/fields.tsx";
import { ReachedCaps, readLimits } from "../parts/limits.tsx";
import { OwnerLimits } from "../parts/raises.tsx";
import { SettingFields } from "../parts/setting-fields.tsx";
import {
  createSettingsRoutes,
  type FormState,
  OWNER_CALLS,
  RAISE_FIELDS,
  VersionedForm,
} from "../settings-page.tsx";
import { readChanges } from "./audit.tsx";
import { readUseOf } from "./use.tsx";
import { type FormSetting, listProblemFields } from "../setting-form.ts";
import type { GroupView, KeyView, UserView, LimitListView } from "../views.ts";

interface Views {
  readonly key: KeyView;
  readonly user: UserView;
  readonly group: GroupView;
}
type Scope = keyof Views;

interface OwnerPage<Of extends Scope> {
  readonly scope: Of;
  /** Word before the name. */
  readonly title: string;
  readonly settings: readonly FormSetting[];
  /** Notice after a deletion. */
  readonly deleted: "deleted" | "owner_deleted";
  readonly read: (
    page: OrganizationPageCall,
  ) => Promise<{ readonly body: Views[Of]; readonly headers?: Readonly<Record<string, string>> }>;
  /** Content above the limits. */
  readonly describe: (page: OrganizationPageCall, one: Views[Of], limits: LimitListView) => Child;
  /** Shows the users and keys of the user or group. Omitted: there are none to show. */
  readonly showOwned?: (page: OrganizationPageCall, one: Views[Of]) => Promise<Child>;
  /** Content below the settings. */
  readonly showActions: (page: OrganizationPageCall, one: Views[Of]) => Child;
}

/** Returns the path of the current page. */
export function ownerPath({ base, params }: OrganizationPageCall, scope: Scope): string {
  return `${base}/${scope}s/${params[scope] ?? ""}`;
}

/** Creates the routes that show an owner, change it, increase its caps and delete it. */
export function createOwnerRoutes<Of extends Scope>(kind: OwnerPage<Of>): readonly PageRoute[] {
  const { scope, settings, read } = kind;
  const route = `/organizations/:organization/${scope}s/:${scope}`;
  const pathOf = (page: OrganizationPageCall): string => ownerPath(page, scope);
  return [
    ...createSettingsRoutes<Views[Of]>(route, {
      scope,
      settings,
      pathOf,
      read,
      change: async (page, changes) => {
        await page.api(`PATCH ${OWNER_CALLS[scope]}`, changes);
        return null;
      },
      outdated: `Another person changed this ${scope} in the meantime. The fields show the current values.`,
      render: (page, one, state) => renderOwner(kind, page, one, state),
    }),
    { method: "POST", path: `${route}/delete`, runInOrganization: (page) => deleteOwner(kind, page) },
  ];
}

async function renderOwner<Of extends Scope>(
  { scope, title, settings, describe, showOwned, showActions }: OwnerPage<Of>,
  page: OrganizationPageCall,
  one: Views[Of],
  { texts, problems, etag }: FormState,
): Promise<PageAnswer> {
  const path = ownerPath(page, scope);
  const hasModels = settings.some(({ row }) => row.kind.notation === "models");
  const [limits, use, changes, catalog, owned] = await Promise.all([
    readLimits(page, scope),
    readUseOf(page, { filter: `${scope}_id`, value: one.id }),
    readChanges(page, one.id),
    hasModels ? page.api("GET /api/catalog") : null,
    showOwned?.(page, one),
  ]);
  const heading = (
    <>
      {title} <bdi>{one.name}</bdi>
    </>
  );
  return showForm(
    <Layout page={page} title={`${title} ${one.name}`} heading={heading} section={`${scope}s`}>
      <ReachedCaps page={page} limits={limits} />
      <ProblemSummary problems={problems} fields={[...listProblemFields(settings), ...RAISE_FIELDS]} />
      {describe(page, one, limits)}
      {use}
      <OwnerLimits {...{ page, scope, path, raises: one.raises, limits, problems }} />
      {owned}
      {changes}
      <details id="settings" open={problems.size > 0}>
        <summary>
          <h2>Settings</h2>
        </summary>
        <VersionedForm page={page} action={path} etag={etag}>
          <SettingFields
            {...{ settings, texts, problems }}
            currency={page.organization.currency}
            {...(catalog && { catalog: catalog.body })}
            base={page.base}
            disabled={!page.canChange}
            canRaise={page.canChange}
          />
        </VersionedForm>
      </details>
      {page.canChange ? showActions(page, one) : null}
    </Layout>,
    problems,
  );
}

/** Deletes a user or a group, with its keys or without. */
async function deleteOwner<Of extends Scope>(
  { scope, title, deleted, read }: OwnerPage<Of>,
  page: OrganizationPageCall,
): Promise<PageAnswer> {
  const isWithKeys = page.form.has("keys");
  if (page.canChange && !isSure(page)) {
    const { body } = await read(page);
    const keys = isWithKeys ? " with all its keys" : "";
    return showConfirmation(page, {
      title: `Delete a ${scope}`,
      section: `${scope}s`,
      text: `Delete the ${scope === "key" ? title : scope} "${body.name}"${keys}? This cannot be undone.`,
      answer: "Delete",
      back: ownerPath(page, scope),
      checked: isWithKeys ? ["keys"] : [],
    });
  }
  await page.api(`DELETE ${OWNER_CALLS[scope]}`, { query: isWithKeys ? { keys: "delete" } : {} });
  return { redirect: `${page.base}/${scope}s?done=${deleted}` };
}

/** Creates the routes that disable and enable a key or a user; `done` selects the notice. */
export function createDisabledRoutes(
  scope: "key" | "user",
  done: { readonly disable: string; readonly enable: string },
): readonly PageRoute[] {
  return (["disable", "enable"] as const).map((action) => ({
    method: "POST",
    path: `/organizations/:organization/${scope}s/:${scope}/${action}`,
    runInOrganization: async (page) => {
      await page.api(`PATCH ${OWNER_CALLS[scope]}`, { body: { disabled: action === "disable" } });
      return { redirect: `${ownerPath(page, scope)}?done=${done[action]}` };
    },
  }));
}

interface SwitchProps {
  readonly page: OrganizationPageCall;
  readonly isDisabled: boolean;
  /** Path of the page. */
  readonly path: string;
  /** Consequence, without its full stop: "The key is rejected with 403". */
  readonly meaning: string;
}

/** Button that disables or enables a key or a user. */
export function DisabledSwitch({ page, isDisabled, path, meaning }: SwitchProps) {
  const action = isDisabled ? "Enable" : "Disable";
  return (
    <Section class="card" id="pause" title={action}>
      <p>{`${meaning}${isDisabled ? "" : " until it is enabled again"}.`}</p>
      <Form page={page} action={`${path}/${action.toLowerCase()}`}>
        <button type="submit">{action}</button>
      </Form>
    </Section>
  );
}
