/**
 * What the pages of an organization's settings, of a key, of a user and of a group do alike: their settings are changed
 * under the version that was read, and their caps are raised for a time.
 */
import type { Child } from "hono/jsx";
import type { LimitScope } from "../../../data-path/store/types/decision.ts";
import { NO_PROBLEMS, pickChanges, type Problems, readBody } from "./form.ts";
import { type OrganizationPageCall, type PageAnswer, type PageRoute, submit } from "./page.ts";
import { resolveOwners } from "./owner-texts.ts";
import { Form } from "./parts/fields.tsx";
import { type FormSetting, readSettings, type SettingTexts, textsOf, textsOfForm } from "./setting-form.ts";

/** What stands in the fields. */
export interface FormState {
  readonly texts: SettingTexts;
  readonly problems: Problems;
  /** The version that the fields began from. */
  readonly etag: string;
}

interface Versioned<One> {
  readonly body: One;
  readonly headers?: Readonly<Record<string, string>>;
}

interface SettingsPage<One> {
  readonly scope: LimitScope;
  /** All that the page shows. */
  readonly settings: readonly FormSetting[];
  /** Those of them that whoever is signed in may change. Left out: all. */
  readonly changeableOf?: (page: OrganizationPageCall) => readonly FormSetting[];
  /** Of the page. */
  readonly pathOf: (page: OrganizationPageCall) => string;
  readonly read: (page: OrganizationPageCall) => Promise<Versioned<One>>;
  /** What the fields are compared with. Left out: what was read, as it is. */
  readonly comparable?: (one: One) => object;
  /** Sends the changes, and may have something else to show than the page. */
  readonly change: (
    page: OrganizationPageCall,
    changes: { readonly body: object; readonly ifMatch: string },
  ) => Promise<PageAnswer | null>;
  /** What somebody else has changed meanwhile, and that it is shown. */
  readonly outdated: string;
  readonly render: (page: OrganizationPageCall, one: One, state: FormState) => Promise<PageAnswer>;
}

/** The routes of such a page. @param route Its path, as the table of pages has it. */
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
  /** The fields. */
  readonly children?: Child;
}

/** The form of the settings, which carries their version. */
export function VersionedForm({ page, action, etag, children }: VersionedFormProps) {
  return (
    <Form page={page} action={action} class="card">
      <input type="hidden" name="etag" value={etag} />
      {children}
      {page.canChange ? <button type="submit">Save</button> : null}
    </Form>
  );
}

export const RAISE_INPUTS = {
  period: "raise.period",
  amount: "raise.amount",
  until: "raise.until",
  reason: "raise.reason",
} as const;

/** For the summary of problems. */
export const RAISE_FIELDS: readonly string[] = Object.values(RAISE_INPUTS);

const KINDS = {
  [RAISE_INPUTS.period]: "choice",
  [RAISE_INPUTS.amount]: "amount",
  [RAISE_INPUTS.until]: "time",
  [RAISE_INPUTS.reason]: "text",
} as const;

/** What the API calls the field → its input. */
const INPUT_OF: Readonly<Record<string, string>> = {
  period: RAISE_INPUTS.period,
  add_cents: RAISE_INPUTS.amount,
  expires_at: RAISE_INPUTS.until,
  reason: RAISE_INPUTS.reason,
};

/** What has limits, in the API. */
export const OWNER_CALLS = {
  key: "/api/organizations/{organization}/keys/{key}",
  user: "/api/organizations/{organization}/users/{user}",
  group: "/api/organizations/{organization}/groups/{group}",
  organization: "/api/organizations/{organization}",
} as const satisfies Readonly<Record<LimitScope, string>>;

interface RaisedPage {
  readonly scope: LimitScope;
  /** Of the owner's page. */
  readonly pathOf: (page: OrganizationPageCall) => string;
  /** The owner's page with what is wrong with the form. */
  readonly render: (page: OrganizationPageCall, problems: Problems) => Promise<PageAnswer>;
}

/** What the page of an owner does with its raises. */
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
