/** Pages of an organization's further webhooks: add, change, remove. */
import type { Child } from "hono/jsx";
import { WEBHOOK_ALERTS, WEBHOOK_FORMATS } from "../../../../shared/settings/webhooks.ts";
import { type FormValues, NO_PROBLEMS, type Problems, readBody } from "../form.ts";
import {
  type OrganizationPageCall,
  type PageAnswer,
  type PageRoute,
  showForm,
  showPage,
  submit,
} from "../page.ts";
import { Field, Form, Hints, ProblemSummary, Select, ShownOnce, typedIn } from "../parts/fields.tsx";
import { Layout } from "../parts/layout.tsx";
import { ALERT_LABELS, FORMAT_LABELS, type FurtherWebhookView } from "../parts/webhook.tsx";
import type { OrganizationView } from "../views.ts";
import { formatCount } from "../../format.ts";
import { listWords } from "../../../../shared/text/list-words.ts";

const PATH = "/organizations/:organization/settings/webhooks";
const ONE = "/api/organizations/{organization}";
const FIELDS = ["format", "url", "routing_key", "alerts"];

async function showOne(page: OrganizationPageCall): Promise<PageAnswer> {
  const webhook = findOne(page);
  if (webhook === null) return { redirect: settingsOf(page) };
  return renderForm(page, webhook, NO_PROBLEMS);
}

function save(page: OrganizationPageCall): Promise<PageAnswer> {
  const webhook = findOne(page);
  const { form } = page;
  return submit({
    send: async () => {
      const wanted = readWebhook(form, webhook);
      const current = page.organization.notifications.webhooks;
      const all = current.map(({ id }) => (id === webhook?.id ? wanted : { id }));
      const saved = await changeWebhooks(page, webhook === null ? [...all, wanted] : all);
      const secret = saved.notifications.webhooks.find((one) => one.secret !== undefined)?.secret;
      return secret === undefined
        ? { redirect: `${settingsOf(page)}?done=saved` }
        : showWebhookSecret(page, secret);
    },
    refused: (problems) =>
      renderForm(page, webhook, new Map([...problems].map(([field, text]) => [fieldOf(field), text]))),
  });
}

async function remove(page: OrganizationPageCall): Promise<PageAnswer> {
  const remaining = page.organization.notifications.webhooks.filter(
    ({ id }) => id !== page.params["webhook"],
  );
  const webhooks = remaining.map(({ id }) => ({ id }));
  await changeWebhooks(page, webhooks);
  return { redirect: `${settingsOf(page)}?done=saved` };
}

async function changeWebhooks(
  page: OrganizationPageCall,
  webhooks: readonly object[],
): Promise<OrganizationView> {
  // The call replaces the whole list: it must be the list that this page was built from.
  const { body: now, headers } = await page.api(`GET ${ONE}`);
  const ids = (one: OrganizationView) => one.notifications.webhooks.map(({ id }) => id).join(" ");
  const isSame = ids(now) === ids(page.organization);
  const { body } = await page.api(`PATCH ${ONE}`, {
    body: { notifications: { webhooks } },
    ifMatch: isSame ? (headers?.["etag"] ?? "*") : '"changed"',
  });
  return body;
}

/** Reads the form; empty fields of an existing webhook stay unchanged. */
function readWebhook(form: FormValues, webhook: FurtherWebhookView | null): object {
  const [url, routingKey] = [form.text("url"), form.text("routing_key")];
  return {
    ...(webhook === null ? { format: form.text("format") } : { id: webhook.id }),
    ...(url === "" ? {} : { url }),
    ...(routingKey === "" ? {} : { routing_key: routingKey }),
    alerts: form.getAll("alerts"),
  };
}

/** Converts "notifications.webhooks.0.alerts.1" to "alerts". */
function fieldOf(field: string): string {
  return field.split(".")[3] ?? "";
}

function findOne({ organization, params }: OrganizationPageCall): FurtherWebhookView | null {
  return organization.notifications.webhooks.find(({ id }) => id === params["webhook"]) ?? null;
}

function settingsOf({ base }: OrganizationPageCall): string {
  return `${base}/settings`;
}

function renderForm(
  page: OrganizationPageCall,
  webhook: FurtherWebhookView | null,
  problems: Problems,
): PageAnswer {
  const typed = typedIn(page, problems);
  const chosen = problems.size === 0 ? (webhook?.alerts ?? WEBHOOK_ALERTS) : page.form.getAll("alerts");
  const isNew = webhook === null;
  const title = isNew ? "Add a webhook" : `Webhook: ${FORMAT_LABELS[webhook.format]}`;
  const action = `${settingsOf(page)}/webhooks/${isNew ? "new" : webhook.id}`;
  return showForm(
    <Layout page={page} title={title} section="settings">
      <ProblemSummary problems={problems} fields={FIELDS} />
      <Form page={page} action={action} class="card">
        {isNew ? (
          <Select
            {...typed("format")}
            label="Format"
            value={page.form.text("format") || "slack"}
            choices={WEBHOOK_FORMATS.map((value) => ({ value, label: FORMAT_LABELS[value] }))}
          />
        ) : null}
        <Address webhook={webhook} typed={typed} problems={problems} />
        <Alerts chosen={chosen} problem={problems.get("alerts")} />
        <button type="submit" class="primary">
          {isNew ? "Add" : "Save"}
        </button>
      </Form>
      <p>
        <a href={settingsOf(page)}>Back to the inference settings</a>
      </p>
    </Layout>,
    problems,
  );
}

interface AddressProps {
  readonly webhook: FurtherWebhookView | null;
  readonly typed: ReturnType<typeof typedIn>;
  readonly problems: Problems;
}

function Address({ webhook, typed, problems }: AddressProps) {
  const isPagerDuty = webhook === null || webhook.format === "pagerduty";
  const now = webhook === null ? "" : `Leave empty to keep ${webhook.url}.`;
  return (
    <>
      <Field
        {...typed("url")}
        label="URL"
        inputmode="url"
        hint={webhook === null ? "PagerDuty: only if you don't use the US Events API v2." : now}
      />
      {isPagerDuty ? (
        <Field
          name="routing_key"
          label="Routing key (PagerDuty)"
          value=""
          autocomplete="off"
          problems={problems}
          hint={
            webhook === null
              ? "The integration key of a service for Events API v2."
              : `Leave empty to keep ${webhook.routing_key ?? ""}.`
          }
        />
      ) : null}
    </>
  );
}

function Alerts({ chosen, problem }: { chosen: readonly string[]; problem: string | undefined }) {
  return (
    <fieldset class="field" id="alerts">
      <legend>Receives</legend>
      <div class="choices">
        {WEBHOOK_ALERTS.map((alert) => (
          <label>
            <input type="checkbox" name="alerts" value={alert} checked={chosen.includes(alert)} />
            <span>{ALERT_LABELS[alert]}</span>
          </label>
        ))}
      </div>
      <Hints name="alerts" hint={undefined} problem={problem} />
    </fieldset>
  );
}

export const webhookPageRoutes: readonly PageRoute[] = [
  {
    method: "GET",
    path: `${PATH}/new`,
    access: "write",
    runInOrganization: async (page) => renderForm(page, null, NO_PROBLEMS),
  },
  { method: "POST", path: `${PATH}/new`, runInOrganization: save },
  { method: "GET", path: `${PATH}/:webhook`, access: "write", runInOrganization: showOne },
  { method: "POST", path: `${PATH}/:webhook`, runInOrganization: save },
  { method: "POST", path: `${PATH}/:webhook/remove`, runInOrganization: remove },
];

/** Returns the call for the first webhook, or for the further one in the path. */
function callOf({ params }: OrganizationPageCall) {
  return `POST /api/organizations/{organization}/${params["webhook"] === undefined ? "webhook" : "webhooks/{webhook}"}` as const;
}

export async function testWebhook(page: OrganizationPageCall): Promise<PageAnswer> {
  const { body: result } = await page.api(`${callOf(page)}/test` as const);
  const { url, format } = describeTested(page);
  return showTest(page, {
    title: "Test of the webhook",
    result,
    arrived: `the endpoint returned ${result.status ?? ""}`,
    remedy: "Correct the endpoint or the URL",
    sent: (
      <>
        {format === "standard" ? (
          <>
            One signed event of the type <code>webhook.test</code>
          </>
        ) : (
          "One test"
        )}{" "}
        was sent to <code class="break">{url}</code>.
      </>
    ),
  });
}

export async function testEmail(page: OrganizationPageCall): Promise<PageAnswer> {
  const { body: result } = await page.api("POST /api/organizations/{organization}/email/test");
  return showTest(page, {
    title: "Test of the email addresses",
    result,
    arrived: "the mail server accepted the email",
    remedy: "Correct the addresses",
    sent: <span class="break">One email was addressed to {listWords(result.recipients)}.</span>,
  });
}

interface TestOutcome {
  readonly title: string;
  readonly result: {
    readonly delivered: boolean;
    readonly error: string | null;
    readonly duration_ms: number;
  };
  readonly arrived: string;
  readonly remedy: string;
  readonly sent: Child;
}

function showTest(
  page: OrganizationPageCall,
  { title, result, arrived, remedy, sent }: TestOutcome,
): PageAnswer {
  const duration = `${formatCount(result.duration_ms)} ms`;
  return showPage(
    <Layout page={page} title={title} section="settings">
      {result.delivered ? (
        <p class="notice good" role="status">
          Delivered: {arrived} after {duration}.
        </p>
      ) : (
        <p class="notice bad" role="alert">
          Not delivered: {result.error} (after {duration}). {remedy} and test again.
        </p>
      )}
      <p>{sent}</p>
      <div class="actions">
        <Form page={page} action={page.path}>
          <button type="submit">Test again</button>
        </Form>
        <a href={`${page.base}/settings`}>Back to the inference settings</a>
      </div>
    </Layout>,
  );
}

export async function rotateWebhookSecret(page: OrganizationPageCall): Promise<PageAnswer> {
  const { body } = await page.api(`${callOf(page)}/rotate-secret` as const, {
    body: readBody(page.form, { grace_seconds: "default" }),
  });
  return showWebhookSecret(page, body.secret);
}

function describeTested({ organization, params }: OrganizationPageCall) {
  const { webhook, webhooks } = organization.notifications;
  const further = webhooks.find(({ id }) => id === params["webhook"]);
  return {
    url: further?.url ?? webhook?.url ?? "the webhook",
    format: further?.format ?? "standard",
  };
}

export function showWebhookSecret(page: OrganizationPageCall, secret: string): PageAnswer {
  return showPage(
    <Layout page={page} title="The webhook's secret" section="settings">
      <ShownOnce
        lead="Saved. Copy the secret now"
        meaning="The receiver verifies signatures with it."
        label="Webhook secret"
        value={secret}
        back={{ path: `${page.base}/settings`, text: "Back to the inference settings" }}
      />
    </Layout>,
  );
}
