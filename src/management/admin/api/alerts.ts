/** `…/alerts`: fired alerts, the state of their deliveries, and redelivery. */
import { alertTypeOf, formatAlertData } from "../../alerts/alert-event.ts";
import { pathOf } from "../../alerts/alert-words.ts";
import { listWebhooks } from "../../alerts/webhooks.ts";
import { formatTimeOrNull } from "../../../shared/time/calendar.ts";
import {
  type AlertChannel,
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
import { defineOrganizationRoute } from "./route.ts";
import { listWords } from "../../../shared/text/list-words.ts";

const PATH = "/api/organizations/{organization}/alerts";

const list = defineOrganizationRoute({
  method: "GET",
  path: PATH,
  operationId: "listAlerts",
  summary: "List alerts with the state of each delivery, newest first: about 10,000.",
  query: pageQuery(STREAM_CURSOR, isInStreams),
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
    const found = await store.findAlert(organization.id, alertId);
    if (found === null) throw new AdminError("alert_not_found");
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
    const what = missing.length > 0 ? listWords(missing) : "email and webhook";
    throw invalidField("channels", `the organization has no ${what} in its \`notifications\``);
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

export const alertRoutes = [list, markRead, redeliver];
