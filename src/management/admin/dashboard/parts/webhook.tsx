import { formatTime } from "../../format.ts";
import type { OrganizationPageCall } from "../page.ts";
import type { OrganizationView } from "../views.ts";
import { Form } from "./fields.tsx";
import { Section } from "./layout.tsx";
import {
  WEBHOOK_ALERTS,
  type WebhookAlert,
  type WebhookFormat,
} from "../../../../shared/settings/webhooks.ts";

const DEFAULT_SECRET_GRACE = "86400";
const SECRET_GRACES = [
  { seconds: "0", label: "ends at once" },
  { seconds: "3600", label: "also signs for an hour" },
  { seconds: DEFAULT_SECRET_GRACE, label: "also signs for a day" },
  { seconds: "604800", label: "also signs for a week" },
];

type WebhookView = NonNullable<OrganizationView["notifications"]["webhook"]>;

/** Addresses that receive alerts, and a test of them. */
export function Emails({ page }: { page: OrganizationPageCall }) {
  const { emails } = page.organization.notifications;
  if (!page.canChange || emails.length === 0 || page.options.email.mailer === null) return null;
  return (
    <Section class="card" id="email" title="Email">
      <p class="break">{emails.join(", ")}</p>
      <Form page={page} action={`${page.base}/settings/email/test`}>
        <button type="submit">Send a test email</button>
      </Form>
    </Section>
  );
}

/** Actions on a webhook. */
export function Webhook({ page, webhook }: { page: OrganizationPageCall; webhook: WebhookView }) {
  const { url, disabled_at: disabledAt } = webhook;
  if (!page.canChange) return null;
  const path = `${page.base}/settings/webhook`;
  return (
    <Section class="card" id="webhook" title="Webhook">
      <p>
        <code class="break">{url}</code>
      </p>
      {disabledAt === null ? null : (
        <p class="notice warn">
          Nothing has been sent since {formatTime(disabledAt)}: the endpoint returned 410 Gone. Save these
          settings again to continue.
        </p>
      )}
      <div class="actions">
        <Form page={page} action={`${path}/test`}>
          <button type="submit">Send a test</button>
        </Form>
        <SecretRotation page={page} path={path} id="webhook" />
      </div>
    </Section>
  );
}

interface SecretRotationProps {
  readonly page: OrganizationPageCall;
  /** Path of the webhook. */
  readonly path: string;
  readonly id: string;
}

/** Rotation of the secret, and how long the previous one keeps signing. */
function SecretRotation({ page, path, id }: SecretRotationProps) {
  const name = id === "webhook" ? "grace_seconds" : `grace_seconds-${id}`;
  return (
    <Form
      page={page}
      action={`${path}/rotate-secret`}
      class="inline"
      confirm="Create a new secret? It is shown only once; set it at the receiver."
    >
      <button type="submit" class="quiet">
        New secret
      </button>
      <label for={name}>the previous one</label>
      <select id={name} name="grace_seconds">
        {SECRET_GRACES.map(({ seconds, label }) => (
          <option value={seconds} selected={seconds === DEFAULT_SECRET_GRACE}>
            {label}
          </option>
        ))}
      </select>
    </Form>
  );
}

export type FurtherWebhookView = OrganizationView["notifications"]["webhooks"][number];

export const FORMAT_LABELS: Readonly<Record<WebhookFormat, string>> = {
  standard: "Standard Webhooks",
  slack: "Slack",
  teams: "Microsoft Teams",
  pagerduty: "PagerDuty",
};

export const ALERT_LABELS: Readonly<Record<WebhookAlert, string>> = {
  budget_near: "before 100 % of a budget",
  budget_reached: "100 % of a budget",
  hard_cap_near: "before 100 % of a hard cap",
  hard_cap_reached: "100 % of a hard cap",
  forecast: "forecast above a limit",
  sudden_spend: "sudden spend",
};

/** Further webhooks, with actions on each. */
export function FurtherWebhooks({ page }: { page: OrganizationPageCall }) {
  const { webhooks } = page.organization.notifications;
  if (!page.canChange && webhooks.length === 0) return null;
  const path = `${page.base}/settings/webhooks`;
  return (
    <Section class="card" id="webhooks" title="Further webhooks">
      {webhooks.length === 0 ? (
        <p>None. Slack, Microsoft Teams and PagerDuty can also receive the alerts that you choose.</p>
      ) : (
        <ul class="webhooks">
          {webhooks.map((webhook) => (
            <FurtherWebhook page={page} webhook={webhook} path={`${path}/${webhook.id}`} />
          ))}
        </ul>
      )}
      {page.canChange ? (
        <p>
          <a href={`${path}/new`}>Add a webhook</a>
        </p>
      ) : null}
    </Section>
  );
}

interface FurtherWebhookProps {
  readonly page: OrganizationPageCall;
  readonly webhook: FurtherWebhookView;
  readonly path: string;
}

function FurtherWebhook({ page, webhook, path }: FurtherWebhookProps) {
  const { format, url, routing_key: routingKey, alerts, disabled_at: disabledAt } = webhook;
  const label = FORMAT_LABELS[format];
  return (
    <li>
      <h3>{label}</h3>
      <p>
        <code class="break">{url}</code>
        {routingKey === null ? null : ` · routing key ${routingKey}`}
        {" · "}
        {alerts.length === WEBHOOK_ALERTS.length
          ? "all alerts"
          : alerts.map((alert) => ALERT_LABELS[alert]).join(", ")}
      </p>
      {disabledAt === null ? null : (
        <p class="notice warn">
          Nothing has been sent since {formatTime(disabledAt)}: the endpoint returned 410 Gone. Set its{" "}
          {format === "pagerduty" ? "routing key" : "URL"} again to continue.
        </p>
      )}
      {page.canChange ? (
        <div class="actions">
          <Form page={page} action={`${path}/test`}>
            <button type="submit" class="quiet">
              Send a test<span class="hidden"> to {label}</span>
            </button>
          </Form>
          <a href={path}>
            Change<span class="hidden"> {label}</span>
          </a>
          <Form page={page} action={`${path}/remove`} confirm={`Remove this webhook (${label})?`}>
            <button type="submit" class="quiet">
              Remove<span class="hidden"> {label}</span>
            </button>
          </Form>
          {format === "standard" ? <SecretRotation page={page} path={path} id={webhook.id} /> : null}
        </div>
      ) : null}
    </li>
  );
}
