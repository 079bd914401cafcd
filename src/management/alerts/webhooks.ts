/** Webhooks of an organization in one form for the delivery, the first one and the further ones. */
import type { NotificationSettings } from "../../shared/settings/organization.ts";
import { WEBHOOK_ALERTS, type WebhookAlert, type WebhookFormat } from "../../shared/settings/webhooks.ts";
import { timeOfId } from "../../data-path/store/ids.ts";
import type { AlertChannel, AlertRecord } from "../../shared/stored/alerts.ts";

export interface Webhook {
  /** "webhook" or its id. */
  readonly channel: AlertChannel;
  readonly format: WebhookFormat;
  readonly url: string;
  readonly routingKey: string | null;
  /** `whsec_…`, newest first; empty if the format is not signed. */
  readonly secrets: readonly { readonly secret: string; readonly expiresAtMs: number | null }[];
  readonly alerts: readonly WebhookAlert[];
  readonly disabledAtMs?: number;
  /** Earlier alerts are not delivered. 0: unknown, for the first webhook. */
  readonly createdAtMs: number;
}

type Change = Partial<Pick<Webhook, "disabledAtMs" | "secrets">>;

/** Returns null if the organization has none on this channel. */
export function findWebhook(notifications: NotificationSettings, channel: string): Webhook | null {
  return listWebhooks(notifications).find((webhook) => webhook.channel === channel) ?? null;
}

export function listWebhooks({ webhook, webhooks }: NotificationSettings): readonly Webhook[] {
  const first: Webhook[] =
    webhook === null
      ? []
      : [
          {
            ...webhook,
            channel: "webhook",
            format: "standard",
            routingKey: null,
            alerts: WEBHOOK_ALERTS,
            createdAtMs: 0,
          },
        ];
  const further = webhooks.map(({ id, ...one }): Webhook => {
    return { ...one, channel: id as AlertChannel, createdAtMs: timeOfId(id) ?? 0 };
  });
  return [...first, ...further];
}

/** Returns the settings with a changed webhook; unchanged if it does not exist. */
export function changeWebhook(
  notifications: NotificationSettings,
  channel: string,
  change: Change,
): NotificationSettings {
  const { webhook, webhooks } = notifications;
  if (channel === "webhook") {
    return { ...notifications, webhook: webhook === null ? null : { ...webhook, ...change } };
  }
  return {
    ...notifications,
    webhooks: webhooks.map((one) => (one.id === channel ? { ...one, ...change } : one)),
  };
}

/** Returns the name by which a webhook selects alerts; null: summaries are only emailed. */
export function alertNameOf({ kind, thresholdPercent }: AlertRecord): WebhookAlert | null {
  if (kind === "summary") return null;
  if (kind === "sudden_spend") return kind;
  if (kind === "budget_forecast" || kind === "hard_cap_forecast") return "forecast";
  return `${kind}_${thresholdPercent < 100 ? "near" : "reached"}`;
}
