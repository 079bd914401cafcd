/**
 * Shared code of settings pages of an organization, a key, a user and a group: changes require the version
 * that was read, and caps can be increased temporarily.
 */
import type { Child } from "hono/jsx";
import type { LimitScope } from "../../../shared/stored/decision.ts";
import { NO_PROBLEMS, pickChanges, type Problems, readBody } from "./form.ts";
import { type OrganizationPageCall, type PageAnswer, type PageRoute, submit } from "./page.ts";
import { resolveOwners } from "./owner-texts.ts";
import { Form } from "./parts/fields.tsx";
import { type FormSetting, readSettings, type SettingTexts, textsOf, textsOfForm } from "./setting-form.ts";

/** Contents of the fields. */
export interface FormState {
  readonly texts: SettingTexts;
  readonly problems: Problems;
  /** Version that the fields started from. */
  readonly etag: string;
}

interface Versioned<One> {
  readonly body: One;
  readonly headers?: Readonly<Record<string, string>>;
}

interface SettingsPage<One> {
  readonly scope: LimitScope;
  readonly settings: readonly FormSetting[];
  /** Settings that the user may change. Omitted: all. */
  readonly changeableOf?: (page: OrganizationPageCall) => readonly FormSetting[];
  readonly pathOf: (page: OrganizationPageCall) => string;
  readonly read: (page: OrganizationPageCall) => Promise<Versioned<One>>;
  /** Values to compare the fields with. Omitted: as read. */
  readonly comparable?: (one: One) => object;
  /** Sends the changes, and may return another page to show. */
  readonly change: (
    page: OrganizationPageCall,
    changes: { readonly body: object; readonly ifMatch: string },
  ) => Promise<PageAnswer | null>;
  /** Notice that another user has changed the record, which is now shown. */
  readonly outdated: string;
  readonly render: (page: OrganizationPageCall, one: One, state: FormState) => Promise<PageAnswer>;
}

/** Creates the routes of such a page. @param route Its path as in the table of pages. */
export function createSettingsRoutes<One extends Readonly<Record<string, unknown>>>(
  route: string,
  { settings, pathOf, read, render, ...kind }: SettingsPage<One>,
): readonly PageRoute[] {
  const show = (page: OrganizationPageCall, { body, headers }: Versioned<One>, problems: Problems) =>
    render(page, body, { texts: textsOf(settings, body), problems, etag: headers?.["etag"] ?? "*" });
  const showAsIs = async (page: OrganizationPageCall, problems: Problems): Promise<PageAnswer> =>
    show(page, await read(page), problems);
  const change = async (page: OrganizationPageCall): Promise<PageAnswer> => {
    const current = await read(page);
    const { form } = page;
    const etag = form.text("etag");
    return submit({
      send: async () => {
        const typed = readSettings(kind.changeableOf?.(page) ?? settings, form, current.body);
        const wanted = await resolveOwners(page.api, typed);
        const body = pickChanges(wanted, kind.comparable?.(current.body) ?? current.body);
        const shown = await kind.change(page, { body, ifMatch: etag });
        return shown ?? { redirect: `${pathOf(page)}?done=saved` };
      },
      refused: (problems) =>
        render(page, current.body, { texts: textsOfForm(settings, form), problems, etag }),
      outdated: () => show(page, current, new Map([["", kind.outdated]])),
    });
  };
  const { createRaise, deleteRaise } = createRaiseActions({ scope: kind.scope, pathOf, render: showAsIs });
  return [
    { method: "GET", path: route, runInOrganization: (page) => showAsIs(page, NO_PROBLEMS) },
    { method: "POST", path: route, runInOrganization: change },
    { method: "POST", path: `${route}/raises`, runInOrganization: createRaise },
    { method: "POST", path: `${route}/raises/:raise/remove`, runInOrganization: deleteRaise },
  ];
}

interface VersionedFormProps {
  readonly page: OrganizationPageCall;
  readonly action: string;
  readonly etag: string;
  /** Fields. */
  readonly children?: Child;
}

/** Form of the settings with their version. */
export function VersionedForm({ page, action, etag, children }: VersionedFormProps) {
  return (
    <Form page={page} action={action} class="card">
      <input type="hidden" name="etag" value={etag} />
      {children}
      {page.canChange ? (
        <button type="submit" class="primary">
          Save
        </button>
      ) : null}
    </Form>
  );
}

export const RAISE_INPUTS = {
  period: "raise.period",
  amount: "raise.amount",
  until: "raise.until",
  reason: "raise.reason",
} as const;

/** Fields for the summary of problems. */
export const RAISE_FIELDS: readonly string[] = Object.values(RAISE_INPUTS);

const KINDS = {
  [RAISE_INPUTS.period]: "choice",
  [RAISE_INPUTS.amount]: "amount",
  [RAISE_INPUTS.until]: "time",
  [RAISE_INPUTS.reason]: "text",
} as const;

/** Inputs by the API's field name. */
const INPUT_OF: Readonly<Record<string, string>> = {
  period: RAISE_INPUTS.period,
  add_cents: RAISE_INPUTS.amount,
  expires_at: RAISE_INPUTS.until,
  reason: RAISE_INPUTS.reason,
};

/** API calls of owners with limits. */
export const OWNER_CALLS = {
  key: "/api/organizations/{organization}/keys/{key}",
  user: "/api/organizations/{organization}/users/{user}",
  group: "/api/organizations/{organization}/groups/{group}",
  organization: "/api/organizations/{organization}",
} as const satisfies Readonly<Record<LimitScope, string>>;

interface RaisedPage {
  readonly scope: LimitScope;
  readonly pathOf: (page: OrganizationPageCall) => string;
  /** Renders the owner's page with problems of the form. */
  readonly render: (page: OrganizationPageCall, problems: Problems) => Promise<PageAnswer>;
}

/** Creates the actions on temporary increases of an owner's page. */
function createRaiseActions({ scope, pathOf, render }: RaisedPage) {
  const owner = OWNER_CALLS[scope];
  return {
    createRaise: (page: OrganizationPageCall): Promise<PageAnswer> =>
      submit({
        send: async () => {
          const { raise } = readBody(page.form, KINDS) as { raise: Record<string, unknown> };
          const { period, amount, until, reason } = raise;
          const body = { period, add_cents: amount, expires_at: until, reason };
          await page.api(`POST ${owner}/raises`, { body });
          return { redirect: `${pathOf(page)}?done=raised` };
        },
        refused: (problems) => render(page, nameInputs(problems)),
      }),
    deleteRaise: async (page: OrganizationPageCall): Promise<PageAnswer> => {
      await page.api(`DELETE ${owner}/raises/{raise}`);
      return { redirect: `${pathOf(page)}?done=raise_deleted` };
    },
  };
}

function nameInputs(problems: Problems): Problems {
  return new Map([...problems].map(([field, problem]) => [INPUT_OF[field] ?? field, problem]));
}
