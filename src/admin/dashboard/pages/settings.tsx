/** @jsxImportSource hono/jsx */
/** *Inference settings*: caps, budget, alert channels, defaults of new keys. */
import type { Child } from "hono/jsx";
import { isGroup } from "../../../settings/group.ts";
import { ORGANIZATION_SETTINGS } from "../../../settings/organization.ts";
import type { Settings } from "../../../settings/setting.ts";
import { NO_PROBLEMS, type Problems, pickChanges } from "../form.ts";
import { type OrganizationPageCall, type PageAnswer, type PageRoute, showPage } from "../page.ts";
import { Form, ProblemSummary } from "../parts/fields.tsx";
import { FurtherWebhooks } from "../parts/further-webhooks.tsx";
import { readLimits } from "../parts/limits.tsx";
import { OwnerLimits } from "../parts/owner-limits.tsx";
import { Layout } from "../parts/layout.tsx";
import { SettingFields } from "../parts/setting-fields.tsx";
import { Webhook } from "../parts/webhook.tsx";
import { createRaiseActions, RAISE_FIELDS } from "../raise-form.ts";
import {
  type FormSetting,
  listFormSettings,
  listProblemFields,
  readSettings,
  type SettingTexts,
  textsOf,
  textsOfForm,
} from "../setting-form.ts";
import { submit } from "../submit.ts";
import type { OrganizationView } from "../views.ts";
import { OrganizationDeletion, organizationDeletionRoutes } from "./organization-deletion.tsx";
import { rotateWebhookSecret, showWebhookSecret, testWebhook } from "./webhook.tsx";
import { webhookPageRoutes } from "./webhooks.tsx";

const PATH = "/organizations/:organization/settings";
const ONE = "/api/organizations/{organization}";

const TABLE: Settings = ORGANIZATION_SETTINGS;
const ALL = listFormSettings(TABLE);
const OWN = ALL.filter(({ row }) => row.changedBy !== "operator");
const NO_MAIL_SERVER = "This gateway sends no mail: its operator has configured no mail server.";

async function showSettings(page: OrganizationPageCall): Promise<PageAnswer> {
  const { organization, etag } = await readOrganization(page);
  return renderSettings(page, { texts: textsOf(ALL, organization), problems: NO_PROBLEMS, etag });
}

async function changeSettings(page: OrganizationPageCall): Promise<PageAnswer> {
  const settings = page.isOperator ? ALL : OWN;
  const { organization, etag } = await readOrganization(page);
  return submit({
    send: async () => {
      const wanted = readSettings(settings, page.form, organization);
      const { body } = await page.api(`PATCH ${ONE}`, {
        body: pickChanges(wanted, withPlainWebhook(organization)),
        ifMatch: page.form.text("etag"),
      });
      const secret = body.notifications.webhook?.secret;
      if (secret !== undefined) return showWebhookSecret(page, secret);
      return { redirect: `${page.base}/settings?done=saved` };
    },
    refused: (problems) => {
      const texts = textsOfForm(settings, page.form);
      return renderSettings(page, { texts, problems, etag: page.form.text("etag") });
    },
    outdated: () => {
      const message =
        "Somebody else has changed these settings meanwhile. The fields show them as they are now.";
      const problems = new Map([["", message]]);
      return renderSettings(page, { texts: textsOf(ALL, organization), problems, etag });
    },
  });
}

/** A URL that is as it was is no change, but for a webhook that is off: saving it again ends that. */
function withPlainWebhook(organization: OrganizationView): object {
  const { notifications } = organization;
  const { webhook } = notifications;
  if (webhook === null || webhook.disabled_at !== null) return organization;
  return { ...organization, notifications: { ...notifications, webhook: { url: webhook.url } } };
}

const { createRaise, deleteRaise } = createRaiseActions({
  scope: "organization",
  pathOf,
  render: async (page, problems) => {
    const { organization, etag } = await readOrganization(page);
    return renderSettings(page, { texts: textsOf(ALL, organization), problems, etag });
  },
});

function pathOf({ base }: OrganizationPageCall): string {
  return `${base}/settings`;
}

async function readOrganization(
  page: OrganizationPageCall,
): Promise<{ organization: OrganizationView; etag: string }> {
  const { body, headers } = await page.api(`GET ${ONE}`);
  return { organization: body, etag: headers?.["etag"] ?? "*" };
}

interface SettingsState {
  readonly texts: SettingTexts;
  readonly problems: Problems;
  /** The version that the fields began from. */
  readonly etag: string;
}

async function renderSettings(page: OrganizationPageCall, state: SettingsState): Promise<PageAnswer> {
  const { notifications, raises } = page.organization;
  const limits = await readLimits(page, "organization");
  const path = pathOf(page);
  return showPage(
    <Layout page={page} title="Inference settings" section="settings">
      <ProblemSummary problems={state.problems} fields={[...listProblemFields(ALL), ...RAISE_FIELDS]} />
      <OwnerLimits
        page={page}
        scope="organization"
        path={path}
        raises={raises}
        limits={limits}
        problems={state.problems}
      />
      <Form page={page} action={path} class="card">
        <input type="hidden" name="etag" value={state.etag} />
        <AllSettings page={page} {...state} />
        {page.canChange ? <button type="submit">Save</button> : null}
      </Form>
      {notifications.webhook === null ? null : <Webhook page={page} webhook={notifications.webhook} />}
      <FurtherWebhooks page={page} />
      <OrganizationDeletion page={page} />
    </Layout>,
    state.problems.size === 0 ? 200 : 400,
  );
}

type AllSettingsProps = Pick<SettingsState, "texts" | "problems"> & { readonly page: OrganizationPageCall };

/** The name, what limits the spend, a fieldset for each group, and what is the operator's. */
function AllSettings({ page, texts, problems }: AllSettingsProps) {
  const isName = ({ row }: FormSetting) => row.kind.notation === "text";
  const own = OWN.filter(({ path }) => !path.includes("."));
  const common = {
    texts,
    problems,
    currency: page.organization.currency,
    disabled: !page.canChange,
    hints: page.options.hasMailServer ? {} : { "notifications.emails": NO_MAIL_SERVER },
  };
  return (
    <>
      <SettingFields settings={own.filter(isName)} {...common} />
      <Section legend="Spend of all keys together">
        <SettingFields settings={own.filter((setting) => !isName(setting))} {...common} />
      </Section>
      {Object.values(TABLE)
        .filter(({ kind }) => isGroup(kind))
        .map(({ apiName, label }) => (
          <Section legend={label}>
            <SettingFields settings={ALL.filter(({ path }) => path.startsWith(`${apiName}.`))} {...common} />
          </Section>
        ))}
      {page.isOperator ? (
        <Section legend="Operator only">
          <SettingFields settings={ALL.filter((setting) => !OWN.includes(setting))} {...common} />
        </Section>
      ) : null}
    </>
  );
}

function Section({ legend, children }: { legend: string; children?: Child }) {
  return (
    <fieldset>
      <legend>{legend}</legend>
      {children}
    </fieldset>
  );
}

export const settingsRoutes: readonly PageRoute[] = [
  { method: "GET", path: PATH, runInOrganization: showSettings },
  { method: "POST", path: PATH, runInOrganization: changeSettings },
  { method: "POST", path: `${PATH}/raises`, runInOrganization: createRaise },
  { method: "POST", path: `${PATH}/raises/:raise/remove`, runInOrganization: deleteRaise },
  { method: "POST", path: `${PATH}/webhook/test`, runInOrganization: testWebhook },
  { method: "POST", path: `${PATH}/webhook/rotate-secret`, runInOrganization: rotateWebhookSecret },
  { method: "POST", path: `${PATH}/webhooks/:webhook/test`, runInOrganization: testWebhook },
  { method: "POST", path: `${PATH}/webhooks/:webhook/rotate-secret`, runInOrganization: rotateWebhookSecret },
  ...webhookPageRoutes,
  ...organizationDeletionRoutes,
];
