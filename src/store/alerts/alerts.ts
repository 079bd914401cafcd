/** The list of alerts that people see, and the delivery state of each. Fired in `lua/include/thresholds.lua`. */
import { z } from "zod";
import type { StoreContext } from "../context.ts";
import { isId, timeOfId } from "../ids.ts";
import {
  ALERT_CHANNEL,
  alertCourierKey,
  alertDeliveriesKey,
  alertListKey,
  alertOutboxKey,
  alertsReadKey,
} from "../redis/keys.ts";
import { expiryOf } from "../../calendar.ts";
import { parseFields, parseInteger } from "../redis/parse-reply.ts";
import { ALERT_CHANNELS } from "../types/alerts.ts";
import type { AlertChannel, AlertRecord, DeliveryState, ListedAlert } from "../types/alerts.ts";
import type { Page, PageInput } from "../types/page.ts";
import type { Run } from "../run.ts";
import type { AlertStore } from "../types/alerts.ts";

/** "100" stands for "many": a badge has no room for more. */
const COUNTED_UNREAD = 100;
const SCAN_ENTRIES = 500;
const MAX_SCANNED = 20_000;

/** Of an alert that no delivery has taken up yet. */
const PENDING: DeliveryState = {
  state: "pending",
  attempts: 0,
  lastError: null,
  lastAttemptAtMs: null,
  nextAttemptAtMs: null,
};

const deliverySchema = z.object({
  state: z.enum(["pending", "delivered", "failed", "off"]),
  attempts: z.number(),
  lastError: z.string().nullable(),
  lastAttemptAtMs: z.number().nullable(),
  nextAttemptAtMs: z.number().nullable(),
});

export function createAlertStore(run: Run): AlertStore {
  return {
    listAlerts: (organizationId, page) =>
      run("listAlerts", (context) => listAlerts(context, organizationId, page)),
    findAlert: (organizationId, alertId) =>
      run("findAlert", (context) => findAlert(context, organizationId, alertId)),
    countUnreadAlerts: (organizationId) =>
      run("countUnreadAlerts", (context) => countUnreadAlerts(context, organizationId)),
    markAlertsRead: (organizationId) =>
      run("markAlertsRead", (context) => markAlertsRead(context, organizationId)),
    redeliverAlert: (alert, channels) =>
      run("redeliverAlert", (context) => redeliverAlert(context, alert, channels)),
  };
}

/** @see AlertStore.listAlerts */
async function listAlerts(
  context: StoreContext,
  organizationId: string,
  { limit, after }: PageInput,
): Promise<Page<ListedAlert>> {
  const end = after === null ? "+" : `(${after}`;
  const found = await context.client.xrevrange(alertListKey(organizationId), end, "-", "COUNT", limit + 1);
  const shown = found.slice(0, limit);
  const items = await Promise.all(
    shown.map(([, fields]) => addDeliveries(context, parseAlert(organizationId, parseFields(fields)))),
  );
  return { items, next: found.length > limit ? (shown.at(-1)?.[0] ?? null) : null };
}

/** @see AlertStore.findAlert */
async function findAlert(
  context: StoreContext,
  organizationId: string,
  alertId: string,
): Promise<ListedAlert | null> {
  const time = timeOfId(alertId);
  if (time === null || !isId("alert", alertId)) return null;
  // Never before the time in its id, behind it when Redis's clock went back.
  let from = String(time);
  for (let read = 0; read < MAX_SCANNED; read += SCAN_ENTRIES) {
    const entries = await context.client.xrange(
      alertListKey(organizationId),
      from,
      "+",
      "COUNT",
      SCAN_ENTRIES,
    );
    const found = entries.map(([, fields]) => parseFields(fields)).find(({ id }) => id === alertId);
    if (found !== undefined) return addDeliveries(context, parseAlert(organizationId, found));
    const last = entries.at(-1);
    if (last === undefined || entries.length < SCAN_ENTRIES) return null;
    from = `(${last[0]}`;
  }
  return null;
}

/** @see AlertStore.countUnreadAlerts */
async function countUnreadAlerts({ client }: StoreContext, organizationId: string): Promise<number> {
  const read = (await client.get(alertsReadKey(organizationId))) ?? "0-0";
  const unread = await client.xrange(alertListKey(organizationId), `(${read}`, "+", "COUNT", COUNTED_UNREAD);
  return unread.length;
}

/** @see AlertStore.markAlertsRead */
async function markAlertsRead({ client }: StoreContext, organizationId: string): Promise<void> {
  const [newest] = await client.xrevrange(alertListKey(organizationId), "+", "-", "COUNT", 1);
  if (newest !== undefined) await client.set(alertsReadKey(organizationId), newest[0]);
}

/** @see AlertStore.redeliverAlert */
async function redeliverAlert(
  context: StoreContext,
  alert: ListedAlert,
  channels: readonly AlertChannel[],
): Promise<void> {
  const { organizationId, id, month } = alert;
  const again = channels.filter((channel) => alert.deliveries[channel].state !== "pending");
  await context.client.igwRedeliverAlert(
    String(2 + ALERT_CHANNELS.length),
    alertOutboxKey(organizationId),
    alertDeliveriesKey(organizationId, id),
    ...ALERT_CHANNELS.map((channel) => alertCourierKey(organizationId, channel)),
    again.join(" "),
    JSON.stringify(PENDING),
    String(expiryOf(month, context.usageMonths)),
    ...formatAlert(alert),
  );
  await context.client.publish(ALERT_CHANNEL, organizationId);
}

/** The fields as `lua/include/thresholds.lua` writes them. @throws TypeError */
export function parseAlert(organizationId: string, fields: Readonly<Record<string, string>>): AlertRecord {
  const textOf = (name: string): string => {
    const value = fields[name];
    if (value === undefined) throw new TypeError(`an alert in Redis has no field "${name}"`);
    return value;
  };
  const scope = textOf("scope") === "key" ? "key" : "organization";
  return {
    id: textOf("id"),
    organizationId,
    kind: textOf("kind") === "budget" ? "budget" : "hard_cap",
    scope,
    keyId: scope === "key" ? textOf("key") : null,
    keyName: scope === "key" ? textOf("key_name") : null,
    thresholdPercent: parseInteger(textOf("percent")),
    amountCents: parseInteger(textOf("amount_cents")),
    spentMicrocents: BigInt(textOf("spent")),
    currency: textOf("currency"),
    month: textOf("month"),
    firedAtMs: parseInteger(textOf("at")),
  };
}

function formatAlert(alert: AlertRecord): string[] {
  const fields = {
    id: alert.id,
    kind: alert.kind,
    scope: alert.scope,
    key: alert.keyId ?? "",
    key_name: alert.keyName ?? "",
    percent: alert.thresholdPercent,
    amount_cents: alert.amountCents,
    spent: alert.spentMicrocents,
    currency: alert.currency,
    month: alert.month,
    at: alert.firedAtMs,
  };
  return Object.entries(fields).flatMap(([name, value]) => [name, String(value)]);
}

async function addDeliveries({ client }: StoreContext, alert: AlertRecord): Promise<ListedAlert> {
  const stored = await client.hgetall(alertDeliveriesKey(alert.organizationId, alert.id));
  const stateOf = (channel: AlertChannel): DeliveryState => {
    const text = stored[channel];
    return text === undefined ? PENDING : deliverySchema.parse(JSON.parse(text));
  };
  return { ...alert, deliveries: { email: stateOf("email"), webhook: stateOf("webhook") } };
}
