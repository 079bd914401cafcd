/** Alerts as signed HTTP requests. */
import type { Clock } from "../clock.ts";
import type { NotificationSettings } from "../settings/organization.ts";
import type { OrganizationRecord } from "../store/types/management.ts";
import type { Store } from "../store/types.ts";
import { formatAlertEvent, formatTime } from "./alert-event.ts";
import type { Attempt, AttemptResult, Channel } from "./channel.ts";
import { type PostOptions, postWebhook, type WebhookAnswer } from "./post-webhook.ts";
import { signWebhook } from "./signature.ts";
import { WebhookError } from "./webhook-error.ts";

export type WebhookSettings = NonNullable<NotificationSettings["webhook"]>;

export interface WebhookChannelOptions {
  readonly store: Pick<Store, "getOrganization" | "changeOrganization">;
  readonly clock: Clock;
  /** Base of the pages that events link to, without a slash at its end. */
  readonly pagesUrl: string;
  readonly post: PostOptions;
}

export interface WebhookMessage {
  /** `webhook-id`: the same in every attempt, for receivers that must not act twice. */
  readonly id: string;
  readonly body: string;
  readonly signal?: AbortSignal;
}

/** The status with which a receiver says that it is gone for good. */
const GONE = 410;
const DISABLE_ATTEMPTS = 5;

/**
 * Signs and sends one message, now.
 * @throws WebhookError when there was no answer.
 */
export function sendWebhook(
  webhook: WebhookSettings,
  message: WebhookMessage,
  nowMs: number,
  options: PostOptions,
): Promise<WebhookAnswer> {
  const { id, body } = message;
  const secrets = webhook.secrets.filter(({ expiresAtMs }) => expiresAtMs === null || nowMs < expiresAtMs);
  const headers = signWebhook(
    secrets.map(({ secret }) => secret),
    { id, body, timestamp: Math.floor(nowMs / 1000) },
  );
  const signal = message.signal === undefined ? {} : { signal: message.signal };
  return postWebhook({ url: webhook.url, headers, body, ...signal }, options);
}

export class WebhookChannel implements Channel {
  readonly #options: WebhookChannelOptions;

  constructor(options: WebhookChannelOptions) {
    this.#options = options;
  }

  async attempt({ message, organization, signal }: Attempt): Promise<AttemptResult> {
    const { webhook } = organization.notifications;
    if (webhook === null) return { outcome: "off" };
    if (webhook.disabledAtMs !== undefined) {
      const since = formatTime(webhook.disabledAtMs);
      return { outcome: "failed", error: `the endpoint is disabled since ${since}: it answered 410 Gone` };
    }
    const { clock, pagesUrl, post } = this.#options;
    const body = formatAlertEvent({ message, organizationName: organization.name, pagesUrl });
    try {
      const answer = await sendWebhook(webhook, { id: message.id, body, signal }, clock.nowMs(), post);
      if (answer.status === GONE) return await this.#disable(organization, webhook.url);
      return judge(answer);
    } catch (error) {
      if (error instanceof WebhookError) return { outcome: "again", error: error.message };
      throw error;
    }
  }

  close(): void {
    // Each request has had a connection of its own.
  }

  /** Whoever sets the URL again, the same or another, enables it. */
  async #disable(organization: OrganizationRecord, url: string): Promise<AttemptResult> {
    const { store, clock } = this.#options;
    let current: OrganizationRecord | null = organization;
    for (let attempt = 1; current !== null && attempt <= DISABLE_ATTEMPTS; attempt += 1) {
      const { notifications, version } = current;
      // Changed meanwhile: the new endpoint has said nothing yet.
      if (notifications.webhook?.url !== url) return { outcome: "again", error: "the endpoint has changed" };
      const webhook = { ...notifications.webhook, disabledAtMs: clock.nowMs() };
      const changes = { notifications: { ...notifications, webhook } };
      const result = await store.changeOrganization(organization.id, changes, version);
      if (result.outcome !== "version_conflict") break;
      current = result.current;
    }
    return { outcome: "failed", error: "the endpoint answered 410 Gone and is disabled" };
  }
}

function judge({ status, retryAfterMs }: WebhookAnswer): AttemptResult {
  if (status >= 200 && status < 300) return { outcome: "delivered" };
  const redirect = status >= 300 && status < 400 ? "; redirects are not followed" : "";
  return { outcome: "again", error: `the endpoint answered ${status}${redirect}`, retryAfterMs };
}
