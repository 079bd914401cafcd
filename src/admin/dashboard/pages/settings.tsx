/** @jsxImportSource hono/jsx */
/** *Inference settings*: caps, budget, alert channels, defaults of new keys. */
import { AdminError } from "../../admin-error.ts";
import { type Fields, NO_PROBLEMS, type Problems, pickChanges, readBody, splitProblems } from "../form.ts";
import type { OrganizationPageCall, PageAnswer, PageRoute } from "../page.ts";
import { Check, Field, Form, ProblemSummary } from "../parts/fields.tsx";
import { Layout } from "../parts/layout.tsx";
import {
  KeyDefaultFields,
  LimitFields,
  NotificationFields,
  SETTINGS_FIELDS,
  type SettingsTexts,
  textsOfOrganization,
  textsOfSettingsForm,
} from "../parts/organization-fields.tsx";
import { Webhook } from "../parts/webhook.tsx";
import type { OrganizationView } from "../views.ts";
import { rotateWebhookSecret, showWebhookSecret, testWebhook } from "./webhook.tsx";

const PATH = "/organizations/:organization/settings";
const ONE = "/api/organizations/{organization}";
const OPERATOR_FIELDS: Fields = { ...SETTINGS_FIELDS, currency: "text", suspended: "flag" };

async function showSettings(page: OrganizationPageCall): Promise<PageAnswer> {
  const { organization, etag } = await readOrganization(page);
  return renderSettings(page, { texts: textsOfOrganization(organization), problems: NO_PROBLEMS, etag });
}

async function changeSettings(page: OrganizationPageCall): Promise<PageAnswer> {
  const fields = page.isOperator ? OPERATOR_FIELDS : SETTINGS_FIELDS;
  const { organization, etag } = await readOrganization(page);
  try {
    const changes = pickChanges(readSettings(page, fields), withPlainWebhook(organization));
    const { body } = await page.api(`PATCH ${ONE}`, {
      params: { organization: organization.id },
      body: changes,
      ifMatch: page.form.text("etag"),
    });
    const secret = (body as OrganizationView).notifications.webhook?.secret;
    if (secret !== undefined) return showWebhookSecret(page, secret);
  } catch (thrown) {
    if (!(thrown instanceof AdminError) || ![400, 409, 412].includes(thrown.status)) throw thrown;
    if (thrown.status !== 412) {
      const texts = textsOfSettingsForm(page.form, fields);
      return renderSettings(page, { texts, problems: splitProblems(thrown), etag: page.form.text("etag") });
    }
    const message =
      "Somebody else has changed these settings meanwhile. The fields show them as they are now.";
    const problems = new Map([["", message]]);
    return renderSettings(page, { texts: textsOfOrganization(organization), problems, etag });
  }
  return { redirect: `/organizations/${organization.id}/settings?done=saved` };
}

/** A URL that is as it was is no change, but for a webhook that is off: saving it again ends that. */
function withPlainWebhook(organization: OrganizationView): object {
  const { notifications } = organization;
  const { webhook } = notifications;
  if (webhook === null || webhook.disabled_at !== null) return organization;
  return { ...organization, notifications: { ...notifications, webhook: { url: webhook.url } } };
}

/** An empty URL is no webhook. */
function readSettings(page: OrganizationPageCall, fields: Fields): Record<string, unknown> {
  const body = readBody(page.form, fields);
  if (page.form.text("notifications.webhook.url") !== "") return body;
  return { ...body, notifications: { ...(body["notifications"] as object), webhook: null } };
}

async function readOrganization(
  page: OrganizationPageCall,
): Promise<{ organization: OrganizationView; etag: string }> {
  const { body, headers } = await page.api(`GET ${ONE}`, { params: { organization: page.organization.id } });
  return { organization: body as OrganizationView, etag: headers?.["etag"] ?? "*" };
}

interface SettingsState {
  readonly texts: SettingsTexts;
  readonly problems: Problems;
  /** The version that the fields began from. */
  readonly etag: string;
}

function renderSettings(page: OrganizationPageCall, { texts, problems, etag }: SettingsState): PageAnswer {
  const { currency, id, notifications } = page.organization;
  const disabled = !page.canChange;
  const common = { texts, problems, currency, disabled };
  return {
    status: problems.size === 0 ? 200 : 400,
    markup: (
      <Layout page={page} title="Inference settings" section="settings">
        <ProblemSummary problems={problems} fields={Object.keys(OPERATOR_FIELDS)} />
        <Form page={page} action={`/organizations/${id}/settings`} class="card">
          <input type="hidden" name="etag" value={etag} />
          <Field
            name="name"
            label="Organization"
            value={texts["name"] ?? ""}
            problems={problems}
            disabled={disabled}
            required
          />
          <LimitFields {...common} />
          <NotificationFields {...common} hasMailServer={page.options.hasMailServer} />
          <KeyDefaultFields {...common} />
          {page.isOperator ? <OperatorFields texts={texts} problems={problems} /> : null}
          {page.canChange ? <button type="submit">Save</button> : null}
        </Form>
        {notifications.webhook === null ? null : <Webhook page={page} webhook={notifications.webhook} />}
      </Layout>
    ),
  };
}

function OperatorFields({ texts, problems }: Pick<SettingsState, "texts" | "problems">) {
  return (
    <fieldset>
      <legend>Operator only</legend>
      <Field
        name="currency"
        label="Currency"
        value={texts["currency"] ?? ""}
        problems={problems}
        hint="ISO 4217. It cannot be changed once there is spend or a request in flight."
      />
      <Check
        name="suspended"
        label="Suspended"
        checked={texts["suspended"] === "yes"}
        problems={problems}
        hint="Every key of the organization is refused with 403."
      />
    </fieldset>
  );
}

export const settingsRoutes: readonly PageRoute[] = [
  { method: "GET", path: PATH, runInOrganization: showSettings },
  { method: "POST", path: PATH, runInOrganization: changeSettings },
  { method: "POST", path: `${PATH}/webhook/test`, runInOrganization: testWebhook },
  { method: "POST", path: `${PATH}/webhook/rotate-secret`, runInOrganization: rotateWebhookSecret },
];
