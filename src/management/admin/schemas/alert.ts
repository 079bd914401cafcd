import * as z from "zod";
import { timestamp, whole } from "../../../shared/settings/input-schemas.ts";
import { answer, input, month, textOrNull, windowStart } from "./fields.ts";
import { pageShape } from "./page.ts";
import { ALERT_TYPES } from "../../alerts/alert-event.ts";
import { ALERT_CHANNELS, type AlertChannel } from "../../../shared/stored/alerts.ts";
import { LIMIT_PERIODS } from "../../../shared/settings/limits.ts";
import { LIMIT_SCOPES } from "../../../shared/stored/decision.ts";
import { isId } from "../../../data-path/store/ids.ts";

/** A week: enough to deploy a receiver. */
const MAX_SECRET_GRACE_SECONDS = 604_800;
const DEFAULT_SECRET_GRACE_SECONDS = 86_400;

const delivery = answer("AlertDelivery", {
  state: z
    .enum(["pending", "delivered", "failed", "off"])
    .describe(
      "`off`: the organization had not chosen the channel. `failed`: given up; `redeliver` sends it again.",
    ),
  attempts: z.int(),
  last_error: z.string().nullable(),
  last_attempt_at: timestamp().nullable(),
  next_attempt_at: timestamp().nullable(),
});

export const alert = answer("Alert", {
  id: z.string().meta({ examples: ["alert_01934f6e-…"] }),
  message_id: z
    .string()
    .describe(
      "Id of the step that fired this alert. The alerts of a step share one email and one event, with this as `webhook-id` and `data.id`, and `deliveries`.",
    ),
  type: z.enum(Object.values(ALERT_TYPES)),
  path: z.string().describe("Path of the dashboard's page that changes the limit, or that shows the spend."),
  url: textOrNull("URL of that page; null: `dashboard.base_url` isn't set."),
  created_at: timestamp(),
  organization_id: z.string(),
  scope: z.enum(LIMIT_SCOPES),
  period: z.enum(LIMIT_PERIODS),
  window_start: windowStart(),
  user_id: z.string().nullable(),
  group_id: z.string().nullable(),
  owner_name: textOrNull("Name of the user or group when the alert fired."),
  key_id: z.string().nullable(),
  key_name: textOrNull("As it was when the alert fired."),
  threshold_percent: z
    .int()
    .describe("Share of `amount_cents`: of a limit its threshold or the forecast; otherwise the spend."),
  amount_cents: z
    .int()
    .describe(
      "The budget or hard cap. With `spend.sudden` the spend of a usual day, with `spend.summary` that of the window before.",
    ),
  spent_cents: z.int().describe("Spent when the alert fired, whole cents, rounded down."),
  currency: z.string(),
  month: month(),
  resets_at: z.iso.datetime().nullable().describe("End of the window; null: never."),
  deliveries: z.strictObject({
    email: delivery,
    webhook: delivery,
    webhooks: z.record(z.string(), delivery).describe("Deliveries of the current further webhooks, by id."),
  }),
});

export const alertPage = answer("AlertPage", {
  ...pageShape(alert),
  unread: z
    .int()
    .describe(
      "Alerts since the caller last marked the list as read, at most 100; 0 if `notifications.dashboard` is false.",
    ),
});

const CHANNELS_EXPECTATION = "expected a list of different channels";
const CHANNEL_EXPECTATION = `expected ${ALERT_CHANNELS.join(", ")} or the id of a further webhook`;
const channel = () =>
  z
    .string({ error: CHANNEL_EXPECTATION })
    .refine(isAlertChannel, { error: CHANNEL_EXPECTATION })
    .meta({ examples: [...ALERT_CHANNELS, "webhook_01934f6e-…"] });
export const redelivery = input("Redelivery", {
  channels: z
    .array(channel(), { error: CHANNELS_EXPECTATION })
    .min(1, { error: CHANNELS_EXPECTATION })
    .refine((given) => new Set(given).size === given.length, { error: CHANNELS_EXPECTATION })
    .optional()
    .describe("Default: channels on which it didn't arrive, otherwise all of the organization's."),
});

export const webhookTest = answer("WebhookTest", {
  delivered: z.boolean(),
  status: z.int().nullable().describe("HTTP status of the endpoint's response; null: no response."),
  error: textOrNull("Reason why it did not arrive."),
  duration_ms: z.int(),
});

export const emailTest = answer("EmailTest", {
  delivered: z.boolean().describe("Whether the mail server accepted the email for every recipient."),
  recipients: z.array(z.string()),
  error: textOrNull("Rejected recipients with the mail server's reasons, or why no email was sent."),
  duration_ms: z.int(),
});

export const secretRotation = input("WebhookSecretRotation", {
  grace_seconds: whole(0, MAX_SECRET_GRACE_SECONDS, "seconds")
    .default(DEFAULT_SECRET_GRACE_SECONDS)
    .describe("Time for which the previous secret also signs."),
});
export const rotatedSecret = answer("RotatedWebhookSecret", {
  secret: z.string().describe("The new secret. It is never shown again."),
  former_secret_until: timestamp().nullable().describe("Time until which the previous secret also signs."),
});

function isAlertChannel(text: string): text is AlertChannel {
  return ALERT_CHANNELS.some((channel) => channel === text) || isId("webhook", text);
}
