/** Alerts as HTTP requests, in the receiver's format. */
import type { Clock } from "../../shared/time/clock.ts";
import type { OrganizationRecord } from "../../shared/stored/management.ts";
import type { AlertMessage } from "../../shared/stored/alerts.ts";
import type { Store } from "../../shared/stored/store.ts";
import { formatTime } from "./alert-event.ts";
import type { Attempt, AttemptResult, Channel } from "./channel.ts";
import { type PostOptions, postWebhook, type WebhookAnswer } from "./post-webhook.ts";
import { signWebhook } from "./signature.ts";
import { FORMATS } from "./webhook-formats.ts";
import { WebhookError } from "./webhook-error.ts";
import { alertNameOf, changeWebhook, findWebhook, type Webhook } from "./webhooks.ts";

export interface WebhookChannelOptions {
  readonly store: Pick<Store, "getOrganization" | "changeOrganization">;
  readonly clock: Clock;
  /** Base URL of the pages that events link to, without a final slash. */
  readonly pagesUrl: string;
  readonly post: PostOptions;
}

/** Status of a receiver that is permanently gone. */
const STATUS_NO_LONGER_EXISTS = 410;
const DISABLE_ATTEMPTS = 5;

/**
 * Sends one message now, signed if the receiver has a secret.
 * @param id `webhook-id`: the same in every attempt, for receivers that must not act twice.
 * @throws WebhookError without a response.
 */
export function sendWebhook(
  webhook: Webhook,
  { id, body, signal }: { readonly id: string; readonly body: object; readonly signal?: AbortSignal },
  nowMs: number,
  options: PostOptions,
): Promise<WebhookAnswer> {
  const text = JSON.stringify(body);
  const message = { id, body: text, timestamp: Math.floor(nowMs / 1000) };
  const secrets = webhook.secrets
    .filter(({ expiresAtMs }) => expiresAtMs === null || nowMs < expiresAtMs)
    .map(({ secret }) => secret);
  const headers = secrets.length === 0 ? {} : signWebhook(secrets, message);
  return postWebhook(
    { url: webhook.url, headers, body: text, ...(signal === undefined ? {} : { signal }) },
    options,
  );
}

export class WebhookChannel implements Channel {
  readonly #options: WebhookChannelOptions;

  constructor(options: WebhookChannelOptions) {
    this.#options = options;
  }

  async attempt({ channel, message, queuedAtMs, organization, signal }: Attempt): Promise<AttemptResult> {
    const webhook = findWebhook(organization.notifications, channel);
    // A webhook gets no alerts that fired before it was created.
    if (webhook === null || webhook.createdAtMs > queuedAtMs) return { outcome: "off" };
    const [first, ...rest] = message.alerts.filter((alert) => {
      const name = alertNameOf(alert);
      return name !== null && webhook.alerts.includes(name);
    });
    if (first === undefined) return { outcome: "off" };
    if (webhook.disabledAtMs !== undefined) {
      const since = formatTime(webhook.disabledAtMs);
      return { outcome: "failed", error: `the endpoint is disabled since ${since}: it returned 410 Gone` };
    }
    const { clock, pagesUrl, post } = this.#options;
    const chosen: AlertMessage = { ...message, alerts: [first, ...rest] };
    const input = { message: chosen, organizationName: organization.name, pagesUrl };
    const body = FORMATS[webhook.format].formatAlerts(input, webhook);
    try {
      const answer = await sendWebhook(webhook, { id: message.id, body, signal }, clock.nowMs(), post);
      if (answer.status === STATUS_NO_LONGER_EXISTS) return await this.#disable(organization, webhook);
      return judge(answer);
    } catch (error) {
      if (error instanceof WebhookError) return { outcome: "again", error: error.message };
      throw error;
    }
  }

  close(): void {
    // Each request had its own connection.
  }

  /** Disables the webhook until its URL is set again, even to the same value. */
  async #disable(organization: OrganizationRecord, { channel, url }: Webhook): Promise<AttemptResult> {
    const { store, clock } = this.#options;
    let current: OrganizationRecord | null = organization;
    for (let attempt = 1; current !== null && attempt <= DISABLE_ATTEMPTS; attempt += 1) {
      const { notifications, version } = current;
      // Changed meanwhile: the new endpoint has not responded yet.
      if (findWebhook(notifications, channel)?.url !== url) {
        return { outcome: "again", error: "the endpoint has changed" };
      }
      const changed = changeWebhook(notifications, channel, { disabledAtMs: clock.nowMs() });
      const result = await store.changeOrganization(organization.id, { notifications: changed }, version);
      if (result.outcome !== "version_conflict") break;
      current = result.current;
    }
    return { outcome: "failed", error: "the endpoint returned 410 Gone and is disabled" };
  }
}

function judge({ status, retryAfterMs }: WebhookAnswer): AttemptResult {
  if (status >= 200 && status < 300) return { outcome: "delivered" };
  const redirect = status >= 300 && status < 400 ? "; redirects are not followed" : "";
  return { outcome: "again", error: `the endpoint returned ${status}${redirect}`, retryAfterMs };
}
