/** The channels of an organization: mail, its first webhook, and as many more as it has set up. */
import { ORGANIZATION_SETTINGS, type NotificationSettings } from "../../../shared/settings/organization.ts";
import type { StoreContext } from "../context.ts";
import { isId } from "../ids.ts";
import { organizationKey } from "../redis/keys.ts";
import { ALERT_CHANNELS, type AlertChannel, type WebhookId } from "../types/alerts.ts";

const { field, kind } = ORGANIZATION_SETTINGS.notifications;

/** Those of now; without further webhooks when there is no such organization. */
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
