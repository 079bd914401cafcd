/** *Inference settings*: caps, budget, alert channels, defaults of new keys. */
import { isGroup } from "../../../../shared/settings/group.ts";
import { ORGANIZATION_SETTINGS } from "../../../../shared/settings/organization.ts";
import type { Settings } from "../../../../shared/settings/setting.ts";
import { type OrganizationPageCall, type PageAnswer, type PageRoute, showForm } from "../page.ts";
import { ConfirmedForm, ProblemSummary } from "../parts/fields.tsx";
import { Emails, FurtherWebhooks, Webhook } from "../parts/webhook.tsx";
import { readLimits } from "../parts/limits.tsx";
import { showConfirmation, isSure, Layout, Section } from "../parts/layout.tsx";
import { OwnerLimits } from "../parts/raises.tsx";
import { FoldedFields, SettingFields } from "../parts/setting-fields.tsx";
import { createSettingsRoutes, type FormState, RAISE_FIELDS, VersionedForm } from "../settings-page.tsx";
import { type FormSetting, listFormSettings, listProblemFields } from "../setting-form.ts";
import type { OrganizationView } from "../views.ts";
import {
  rotateWebhookSecret,
  showWebhookSecret,
  testEmail,
  testWebhook,
  webhookPageRoutes,
} from "./webhooks.tsx";

const PATH = "/organizations/:organization/settings";
const ONE = "/api/organizations/{organization}";

const TABLE: Settings = ORGANIZATION_SETTINGS;
const ALL = listFormSettings(TABLE);
const OWN = ALL.filter(({ row }) => row.changedBy !== "operator");
const NO_MAIL_SERVER = "This gateway sends no email: its operator has configured no mail server.";

const settingsPage = createSettingsRoutes<OrganizationView>(PATH, {
  scope: "organization",
  settings: ALL,
  changeableOf: (page) => (page.isOperator ? ALL : OWN),
  pathOf: ({ base }) => `${base}/settings`,
  read: (page) => page.api(`GET ${ONE}`),
  comparable: withPlainWebhook,
  change: async (page, changes) => {
    const { body } = await page.api(`PATCH ${ONE}`, changes);
    const secret = body.notifications.webhook?.secret;
    return secret === undefined ? null : showWebhookSecret(page, secret);
  },
  outdated: "Another person changed these settings in the meantime. The fields show the current values.",
  render: renderSettings,
});

/** An unchanged URL is no change, except for a disabled webhook: saving it enables it again. */
function withPlainWebhook(organization: OrganizationView): object {
  const { notifications } = organization;
  const { webhook } = notifications;
  if (webhook === null || webhook.disabled_at !== null) return organization;
  return { ...organization, notifications: { ...notifications, webhook: { url: webhook.url } } };
}

async function renderSettings(
  page: OrganizationPageCall,
  _: OrganizationView,
  { etag, ...state }: FormState,
): Promise<PageAnswer> {
  const { notifications, raises } = page.organization;
  const { problems } = state;
  const limits = await readLimits(page, "organization");
  const path = `${page.base}/settings`;
  return showForm(
    <Layout page={page} title="Inference settings" section="settings">
      <ProblemSummary problems={problems} fields={[...listProblemFields(ALL), ...RAISE_FIELDS]} />
      <OwnerLimits {...{ page, scope: "organization", path, raises, limits, problems }} />
      <VersionedForm page={page} action={path} etag={etag}>
        <AllSettings page={page} {...state} />
      </VersionedForm>
      <Emails page={page} />
      {notifications.webhook === null ? null : <Webhook page={page} webhook={notifications.webhook} />}
      <FurtherWebhooks page={page} />
      <AfterLeak page={page} />
      <OrganizationDeletion page={page} />
    </Layout>,
    problems,
  );
}

type AllSettingsProps = Omit<FormState, "etag"> & { readonly page: OrganizationPageCall };

/** Name and limits, then folds of what is rarely changed. */
function AllSettings({ page, texts, problems }: AllSettingsProps) {
  const own = OWN.filter(({ path }) => !path.includes("."));
  const common = {
    texts,
    problems,
    currency: page.organization.currency,
    disabled: !page.canChange,
    canRaise: page.canChange,
    hints: page.options.email.mailer !== null ? {} : { "notifications.emails": NO_MAIL_SERVER },
  };
  return (
    <>
      <SettingFields settings={own.filter(isUsual)} {...common} />
      <FoldedFields
        title="Further limits and rules"
        about="members, sessions, tokens per minute, strict caps, what clients see"
        settings={own.filter((setting) => !isUsual(setting))}
        {...common}
      />
      {GROUPS.map(({ apiName, label }) => (
        <FoldedFields
          title={label}
          about={ABOUT[apiName] ?? ""}
          settings={ALL.filter(({ path }) => path.startsWith(`${apiName}.`))}
          {...common}
        />
      ))}
      {page.isOperator ? (
        <FoldedFields
          title="Operator only"
          about="currency, suspension"
          settings={ALL.filter((setting) => !OWN.includes(setting))}
          {...common}
        />
      ) : null}
    </>
  );
}

const { name, limits: limitsRow, notifications, modelNames, keyDefaults } = ORGANIZATION_SETTINGS;
const GROUPS = Object.values(TABLE).filter(({ kind }) => isGroup(kind));
const ABOUT: Readonly<Record<string, string>> = {
  [notifications.apiName]: "dashboard, email, webhook, forecast, sudden spend, summaries",
  [modelNames.apiName]: "aliases, default model",
  [keyDefaults.apiName]: "limits and requests per minute of a new API key",
};

function isUsual({ path }: FormSetting): boolean {
  return path === name.apiName || path === limitsRow.apiName;
}

function AfterLeak({ page }: { page: OrganizationPageCall }) {
  if (!page.canChange) return null;
  return (
    <Section class="card" id="leak" title="After a leak">
      <p>Permanently deletes every API key of this organization. Their spend stays in the usage.</p>
      <ConfirmedForm
        page={page}
        action={`${page.base}/keys/revoke-all`}
        button="Delete all keys"
        confirm="Delete every API key of this organization? Requests with them return 401 at once."
      >
        <div class="field check">
          <label>
            <input type="checkbox" name="sure" value="yes" required />
            <span>
              Yes, delete all keys of <bdi>{page.organization.name}</bdi>
            </span>
          </label>
        </div>
      </ConfirmedForm>
    </Section>
  );
}

const DELETE = "Delete the organization";
const EFFECT =
  "Its API keys and tokens stop working at once, and its alerts and webhooks end. " +
  "Its spend stays readable.";

function questionOf({ organization }: OrganizationPageCall): string {
  return `Delete the organization "${organization.name}"? ${EFFECT} This cannot be undone.`;
}

/** Empty except for the operator, and for deleted organizations. */
function OrganizationDeletion({ page }: { page: OrganizationPageCall }) {
  if (!page.isOperator || !page.canChange) return null;
  return (
    <Section class="card" id="delete" title={DELETE}>
      <p>Permanent. {EFFECT}</p>
      <ConfirmedForm
        page={page}
        action={`${page.base}/settings/delete`}
        confirm={questionOf(page)}
        button={DELETE}
      />
    </Section>
  );
}

async function deleteOrganization(page: OrganizationPageCall): Promise<PageAnswer> {
  if (!isSure(page)) {
    return showConfirmation(page, {
      title: "Delete an organization",
      section: "settings",
      text: questionOf(page),
      answer: DELETE,
      back: `${page.base}/settings`,
    });
  }
  await page.api("DELETE /api/organizations/{organization}");
  return { redirect: "/organizations?done=organization_deleted" };
}

export const settingsRoutes: readonly PageRoute[] = [
  ...settingsPage,
  { method: "POST", path: `${PATH}/email/test`, runInOrganization: testEmail },
  { method: "POST", path: `${PATH}/webhook/test`, runInOrganization: testWebhook },
  { method: "POST", path: `${PATH}/webhook/rotate-secret`, runInOrganization: rotateWebhookSecret },
  { method: "POST", path: `${PATH}/webhooks/:webhook/test`, runInOrganization: testWebhook },
  { method: "POST", path: `${PATH}/webhooks/:webhook/rotate-secret`, runInOrganization: rotateWebhookSecret },
  ...webhookPageRoutes,
  { method: "POST", path: `${PATH}/delete`, access: "operator", runInOrganization: deleteOrganization },
];
