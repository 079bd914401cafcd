/** Alert channels of an organization: email, its first webhook, and its further webhooks. */
import { ORGANIZATION_SETTINGS, type NotificationSettings } from "../../../shared/settings/organization.ts";
import type { StoreContext } from "../context.ts";
import { isId } from "../ids.ts";
import { organizationKey } from "../redis/keys.ts";
import { ALERT_CHANNELS, type AlertChannel, type WebhookId } from "../../../shared/stored/alerts.ts";

const { field, kind } = ORGANIZATION_SETTINGS.notifications;

/** Reads the current channels; without further webhooks if the organization does not exist. */
export async function readChannels(
  { client }: StoreContext,
  organizationId: string,
): Promise<readonly AlertChannel[]> {
  const notifications = await client.hget(organizationKey(organizationId), field);
  return notifications === null ? ALERT_CHANNELS : listChannels(kind.parse(notifications));
}

export function listChannels({ webhooks }: Pick<NotificationSettings, "webhooks">): readonly AlertChannel[] {
  return [...ALERT_CHANNELS, ...webhooks.map(({ id }) => id).filter(isWebhookId)];
}

export function isWebhookId(channel: string): channel is WebhookId {
  return isId("webhook", channel);
}
