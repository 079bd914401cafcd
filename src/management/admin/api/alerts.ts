/** `…/alerts`: fired alerts, the state of their deliveries, and redelivery. */
import type { z } from "zod";
import { checkInput } from "../http/check-input.ts";
import { formatOwnerIds } from "../../../shared/stored/owner-ids.ts";
import type { Store } from "../../../shared/stored/store.ts";
import type { LimitStatus } from "../../../shared/stored/reporting.ts";
import { findLimitKind } from "../../alerts/alert-names.ts";
import { alertTypeOf, formatAlertData } from "../../alerts/alert-event.ts";
import { pathOf } from "../../alerts/alert-words.ts";
import { listWebhooks } from "../../alerts/webhooks.ts";
import { formatTimeOrNull } from "../../../shared/time/calendar.ts";
import {
  type AlertChannel,
  type AlertRecord,
  deliveryOf,
  type DeliveryState,
  type ListedAlert,
} from "../../../shared/stored/alerts.ts";
import type { OrganizationRecord } from "../../../shared/stored/management.ts";
import { AdminError, invalidField } from "../admin-error.ts";
import { alert, alertPage, redelivery } from "../schemas/alert.ts";
import { isInStreams } from "../../../data-path/store/requests/cursor.ts";
import { pageQuery, STREAM_CURSOR } from "../schemas/page.ts";
import { readerOf } from "../principal.ts";
import { answerList, parsePage } from "./answers.ts";
import { type ApiServices, defineOrganizationRoute } from "./route.ts";
import { listWords } from "../../../shared/text/list-words.ts";

const PATH = "/api/organizations/{organization}/alerts";
const QUERY = pageQuery(STREAM_CURSOR, isInStreams);

const list = defineOrganizationRoute({
  method: "GET",
  path: PATH,
  operationId: "listAlerts",
  summary: "List alerts with the state of each delivery, newest first: about 10,000.",
  query: QUERY,
  answers: { 200: alertPage },
  handleInOrganization: async ({ organization, query, principal }, { store, dashboardUrl = null }) => {
    const { id, notifications } = organization;
    const unread = notifications.dashboard ? await store.countUnreadAlerts(id, readerOf(principal)) : 0;
    const { status, body } = answerList(await store.listAlerts(id, parsePage(query)), (item) =>
      formatAlert(item, dashboardUrl),
    );
    return { status, body: { ...(body as object), unread } };
  },
});

const markRead = defineOrganizationRoute({
  method: "POST",
  path: `${PATH}/mark-read`,
  operationId: "markAlertsRead",
  summary: "Mark all alerts as read by the caller: by this person, or by this token.",
  access: "read",
  answers: { 204: null },
  handleInOrganization: async ({ organization, principal }, { store }) => {
    await store.markAlertsRead(organization.id, readerOf(principal));
    return { status: 204 };
  },
});

const redeliver = defineOrganizationRoute({
  method: "POST",
  path: `${PATH}/{alert}/redeliver`,
  operationId: "redeliverAlert",
  summary: "Send an alert again, and retry waiting deliveries at once.",
  description:
    "Also sends the alerts that fired in the same step. Receivers get the same `webhook-id` and `data.id` again.",
  body: redelivery,
  isBodyOptional: true,
  answers: { 202: alert },
  handleInOrganization: async ({ organization, params, body }, { store, dashboardUrl = null }) => {
    const alertId = params["alert"] ?? "";
    const found = await requireAlert(store, organization.id, alertId);
    await store.redeliverAlert(found, chooseChannels(organization, found, body.channels));
    const now = (await store.findAlert(organization.id, alertId)) ?? found;
    return { status: 202, body: formatAlert(now, dashboardUrl) };
  },
});

function chooseChannels(
  { notifications }: OrganizationRecord,
  alert: ListedAlert,
  wanted: readonly AlertChannel[] | undefined,
): readonly AlertChannel[] {
  const chosen: readonly AlertChannel[] = [
    ...(notifications.emails.length > 0 ? (["email"] as const) : []),
    ...listWebhooks(notifications).map(({ channel }) => channel),
  ];
  const missing = wanted?.filter((channel) => !chosen.includes(channel)) ?? [];
  if (missing.length > 0 || chosen.length === 0) {
    const channels = missing.length > 0 ? listWords(missing) : "email and webhook";
    throw invalidField("channels", `the organization has no ${channels} in its \`notifications\``);
  }
  if (wanted !== undefined) return wanted;
  const undelivered = chosen.filter((channel) => deliveryOf(alert, channel)?.state !== "delivered");
  return undelivered.length === 0 ? chosen : undelivered;
}

function formatAlert(item: ListedAlert, dashboardUrl: string | null) {
  const path = pathOf(item);
  return {
    ...formatAlertData(item),
    message_id: item.messageId,
    type: alertTypeOf(item),
    path,
    url: dashboardUrl === null ? null : `${dashboardUrl}${path}`,
    created_at: new Date(item.firedAtMs).toISOString(),
    deliveries: {
      email: formatDelivery(item.deliveries.email),
      webhook: formatDelivery(item.deliveries.webhook),
      webhooks: Object.fromEntries(
        [...item.deliveries.webhooks].map(([id, delivery]) => [id, formatDelivery(delivery)]),
      ),
    },
  };
}

function formatDelivery(delivery: DeliveryState) {
  return {
    state: delivery.state,
    attempts: delivery.attempts,
    last_error: delivery.lastError,
    last_attempt_at: formatTimeOrNull(delivery.lastAttemptAtMs),
    next_attempt_at: formatTimeOrNull(delivery.nextAttemptAtMs),
  };
}

/** Alerts before one among which those of the same limit are found. */
export const LOOKED_AT = 200;

/** Reads a page as the call does, but with whole messages. */
export function readAlerts({ store }: ApiServices, organizationId: string, wanted: z.input<typeof QUERY>) {
  const page = parsePage(checkInput(QUERY, wanted));
  return store.listAlerts(organizationId, { ...page, wholeMessages: true });
}

/** Reads an alert and those before it. @throws AdminError 404 */
export async function readAlert({ store }: ApiServices, organizationId: string, alertId: string) {
  const alert = await requireAlert(store, organizationId, alertId);
  const after = `${alert.firedAtMs + 1}-0`;
  return { alert, items: (await store.listAlerts(organizationId, { limit: LOOKED_AT, after })).items };
}

async function requireAlert(store: Store, organizationId: string, alertId: string): Promise<ListedAlert> {
  const alert = await store.findAlert(organizationId, alertId);
  if (alert === null) throw new AdminError("alert_not_found");
  return alert;
}

/** Finds the limit of an alert now; null: removed, or its owner was deleted. */
export type LimitNow = (alert: AlertRecord) => LimitStatus | null;

/** Reads the limits of each owner once. */
export async function readLimitsNow(
  { store }: ApiServices,
  organizationId: string,
  alerts: readonly AlertRecord[],
): Promise<LimitNow> {
  const limited = alerts.filter((alert) => findLimitKind(alert) !== null);
  const owners = new Map(limited.map((alert) => [ownerOf(alert), alert]));
  const read = await Promise.all(
    [...owners].map(async ([owner, { scope, keyId, ownerId }]) => {
      const ids = formatOwnerIds({
        userId: scope === "user" ? ownerId : null,
        groupId: scope === "group" ? ownerId : null,
      });
      const { limits } = await store.readLimits(organizationId, { keyId, owners: ids });
      return [owner, limits.filter((limit) => limit.scope === scope)] as const;
    }),
  );
  const limitsOf = new Map(read);
  return (alert) => {
    const kind = findLimitKind(alert);
    const limits = limitsOf.get(ownerOf(alert)) ?? [];
    return limits.find((limit) => limit.period === alert.period && limit.kind === kind) ?? null;
  };
}

function ownerOf({ scope, keyId, ownerId }: AlertRecord): string {
  return `${scope} ${keyId ?? ownerId ?? ""}`;
}

export const alertRoutes = [list, markRead, redeliver];
