/** @jsxImportSource hono/jsx */
import { WEBHOOK_ALERTS, type WebhookAlert, type WebhookFormat } from "../../../settings/webhooks.ts";
import { formatTime } from "../../format.ts";
import type { OrganizationPageCall } from "../page.ts";
import type { OrganizationView } from "../views.ts";
import { Form } from "./fields.tsx";
import { SecretRotation } from "./webhook.tsx";

export type FurtherWebhookView = OrganizationView["notifications"]["webhooks"][number];

export const FORMAT_LABELS: Readonly<Record<WebhookFormat, string>> = {
  standard: "Standard Webhooks",
  slack: "Slack",
  teams: "Microsoft Teams",
  pagerduty: "PagerDuty",
};

export const ALERT_LABELS: Readonly<Record<WebhookAlert, string>> = {
  budget_80: "80 % of a budget",
  budget_100: "100 % of a budget",
  hard_cap_90: "90 % of a hard cap",
  hard_cap_100: "100 % of a hard cap",
};

/** The webhooks beside the first one, with what is done with each. */
export function FurtherWebhooks({ page }: { page: OrganizationPageCall }) {
  const { webhooks } = page.organization.notifications;
  if (!page.canChange && webhooks.length === 0) return null;
  const path = `${page.base}/settings/webhooks`;
  return (
    <section class="card" aria-labelledby="webhooks">
      <h2 id="webhooks">Further webhooks</h2>
      {webhooks.length === 0 ? (
        <p>None. Slack, Microsoft Teams and PagerDuty can be told too, each of the alerts that you choose.</p>
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
    </section>
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
          Nothing is sent since {formatTime(disabledAt)}: the endpoint answered 410 Gone. Set its{" "}
          {format === "pagerduty" ? "routing key" : "URL"} again to go on.
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
