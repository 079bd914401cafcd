/** What the pages of one key, one user and one group do alike. */
import type { Child } from "hono/jsx";
import { type OrganizationPageCall, type PageAnswer, type PageRoute, showForm } from "../page.ts";
import { askFirst, isSure, Layout, Section } from "../parts/layout.tsx";
import { Form, ProblemSummary } from "../parts/fields.tsx";
import { readLimits } from "../parts/limits.tsx";
import { OwnerLimits } from "../parts/raises.tsx";
import { SettingFields } from "../parts/setting-fields.tsx";
import {
  createSettingsRoutes,
  type FormState,
  OWNER_CALLS,
  RAISE_FIELDS,
  VersionedForm,
} from "../settings-page.tsx";
import { type FormSetting, listProblemFields } from "../setting-form.ts";
import type { GroupView, KeyView, UserView } from "../views.ts";

interface Views {
  readonly key: KeyView;
  readonly user: UserView;
  readonly group: GroupView;
}
type Scope = keyof Views;

interface OwnerPage<Of extends Scope> {
  readonly scope: Of;
  /** What people call one, before its name. */
  readonly title: string;
  readonly settings: readonly FormSetting[];
  /** What is said once one is deleted. */
  readonly deleted: "deleted" | "owner_deleted";
  readonly read: (
    page: OrganizationPageCall,
  ) => Promise<{ readonly body: Views[Of]; readonly headers?: Readonly<Record<string, string>> }>;
  /** What stands above the limits. */
  readonly describe: (page: OrganizationPageCall, one: Views[Of]) => Child;
  /** What stands beneath the settings. */
  readonly showRest: (page: OrganizationPageCall, one: Views[Of]) => Child | Promise<Child>;
}

/** The path of the page that is asked for. */
export function ownerPath({ base, params }: OrganizationPageCall, scope: Scope): string {
  return `${base}/${scope}s/${params[scope] ?? ""}`;
}

/** Shows one, changes it, raises its caps, deletes it. */
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
      outdated: `Somebody else has changed this ${scope} meanwhile. The fields show it as it is now.`,
      render: (page, one, state) => renderOwner(kind, page, one, state),
    }),
    { method: "POST", path: `${route}/delete`, runInOrganization: (page) => deleteOwner(kind, page) },
  ];
}

async function renderOwner<Of extends Scope>(
  { scope, title, settings, describe, showRest }: OwnerPage<Of>,
  page: OrganizationPageCall,
  one: Views[Of],
  { texts, problems, etag }: FormState,
): Promise<PageAnswer> {
  const path = ownerPath(page, scope);
  const hasModels = settings.some(({ row }) => row.kind.notation === "models");
  const [limits, catalog, rest] = await Promise.all([
    readLimits(page, scope),
    hasModels ? page.api("GET /api/catalog") : null,
    showRest(page, one),
  ]);
  const heading = (
    <>
      {title} <bdi>{one.name}</bdi>
    </>
  );
  return showForm(
    <Layout page={page} title={`${title} ${one.name}`} heading={heading} section={`${scope}s`}>
      {describe(page, one)}
      <ProblemSummary problems={problems} fields={[...listProblemFields(settings), ...RAISE_FIELDS]} />
      <OwnerLimits {...{ page, scope, path, raises: one.raises, limits, problems }} />
      <Section id="settings" title="Settings">
        <VersionedForm page={page} action={path} etag={etag}>
          <SettingFields
            {...{ settings, texts, problems }}
            currency={page.organization.currency}
            {...(catalog && { catalog: catalog.body })}
            base={page.base}
            disabled={!page.canChange}
          />
        </VersionedForm>
      </Section>
      {rest}
    </Layout>,
    problems,
  );
}

/** A user and a group with their keys or without. */
async function deleteOwner<Of extends Scope>(
  { scope, title, deleted, read }: OwnerPage<Of>,
  page: OrganizationPageCall,
): Promise<PageAnswer> {
  const isWithKeys = page.form.has("keys");
  if (page.canChange && !isSure(page)) {
    const { body } = await read(page);
    const keys = isWithKeys ? " with all its keys" : "";
    return askFirst(page, {
      title: `Delete a ${scope}`,
      section: `${scope}s`,
      text: `Delete the ${scope === "key" ? title : scope} "${body.name}"${keys}? This cannot be undone.`,
      answer: "Delete",
      back: ownerPath(page, scope),
      kept: isWithKeys ? ["keys"] : [],
    });
  }
  await page.api(`DELETE ${OWNER_CALLS[scope]}`, { query: isWithKeys ? { keys: "delete" } : {} });
  return { redirect: `${page.base}/${scope}s?done=${deleted}` };
}

/** Disables and enables a key or a user, which is said by `done`. */
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
  /** Of the page. */
  readonly path: string;
  /** "The key is refused with 403", without its full stop. */
  readonly meaning: string;
}

/** The button that disables a key or a user, or enables it again. */
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
