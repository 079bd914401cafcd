/** List of alerts for people, with the delivery state of each. Alerts fire in `lua/include/thresholds.lua`. */
import * as z from "zod";
import { isWebhookId, readChannels } from "./channels.ts";
import type { StoreContext } from "../context.ts";
import { isId, timeOfId } from "../ids.ts";
import {
  ALERT_CHANNEL,
  alertCourierKey,
  alertDeliveriesKey,
  alertListKey,
  alertOutboxKey,
  alertsRaisedKey,
  alertsReadKey,
  alertsWatchedKey,
  organizationKey,
} from "../redis/keys.ts";
import { LIMIT_PERIODS, MAX_ALERTS } from "../../../shared/settings/limits.ts";
import { LIMIT_SCOPES } from "../../../shared/stored/decision.ts";
import { windowName, windowStart } from "../usage/windows.ts";
import { expiryOf } from "../../../shared/time/calendar.ts";
import { OUTCOME } from "../redis/reply-layouts.ts";
import { parseArray, parseFields, parseInteger, textAt } from "../redis/parse-reply.ts";
import {
  ALERT_KINDS,
  type AlertChannel,
  type AlertMessage,
  type AlertRecord,
  type AlertStore,
  type AlertWatchStore,
  deliveryOf,
  type DeliveryState,
  type ListedAlert,
} from "../../../shared/stored/alerts.ts";
import { storeOf } from "../run.ts";

/** Maximum of the badge: 100 stands for "many". */
const COUNTED_UNREAD = 100;
/**
 * Maximum number of alerts in a message: four scopes, four periods, two amounts each, and the thresholds of each
 * amount.
 */
const MAX_IN_A_MESSAGE = 4 * 2 * 4 * (MAX_ALERTS + 1);
const SCAN_ENTRIES = 500;
const MAX_SCANNED = 20_000;

/** State of an alert whose delivery has not started. */
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

export const createAlertStore = storeOf<AlertStore & AlertWatchStore>({
  async takeWatch({ client }, organizationId, intervalMs) {
    return (await client.set(alertsWatchedKey(organizationId), "1", "PX", intervalMs, "NX")) === "OK";
  },

  async wasRaised({ client }, organizationId, month, once) {
    return (await client.hexists(alertsRaisedKey(organizationId, month), once)) === 1;
  },

  async raiseAlert(context, alert, once) {
    const { organizationId, month } = alert;
    const reply = await context.client.igwRaiseAlert({
      organization: organizationKey(organizationId),
      list: alertListKey(organizationId),
      outbox: alertOutboxKey(organizationId),
      fired: alertsRaisedKey(organizationId, month),
      once,
      expiresAtMs: String(expiryOf(month, context.usageMonths)),
      furtherArguments: formatAlert(alert),
    });
    const isFired = textAt(parseArray(reply), OUTCOME) === "fired";
    if (isFired) context.alerts.fired += 1;
    return isFired;
  },

  async listAlerts(context, organizationId, { limit, after, wholeMessages }) {
    const end = after === null ? "+" : `(${after}`;
    const count = limit + (wholeMessages === true ? MAX_IN_A_MESSAGE : 1);
    const entries = await context.client.xrevrange(alertListKey(organizationId), end, "-", "COUNT", count);
    const found = entries.map(([, fields]) => parseAlert(organizationId, parseFields(fields)));
    const shown = wholeMessages === true ? findEndOfMessage(found, limit) : Math.min(limit, found.length);
    const channels = await readChannels(context, organizationId);
    const items = await Promise.all(
      found.slice(0, shown).map((alert) => addDeliveries(context, alert, channels)),
    );
    return { items, next: found.length > shown ? (entries[shown - 1]?.[0] ?? null) : null };
  },

  async findAlert(context, organizationId, alertId) {
    for await (const alert of scanAlerts(context, organizationId, alertId)) {
      if (alert.id !== alertId) continue;
      return addDeliveries(context, alert, await readChannels(context, organizationId));
    }
    return null;
  },

  async countUnreadAlerts({ client }, organizationId, reader) {
    const marked = await client.hget(alertsReadKey(organizationId), reader);
    const read = marked ?? `${timeOfId(reader) ?? 0}-0`;
    const unread = await client.xrange(
      alertListKey(organizationId),
      `(${read}`,
      "+",
      "COUNT",
      COUNTED_UNREAD,
    );
    return unread.length;
  },

  async markAlertsRead({ client }, organizationId, reader) {
    const [newest] = await client.xrevrange(alertListKey(organizationId), "+", "-", "COUNT", 1);
    if (newest !== undefined) await client.hset(alertsReadKey(organizationId), reader, newest[0]);
  },

  async redeliverAlert(context, alert, channels) {
    const { organizationId, messageId, month } = alert;
    const { alerts } = await findMessage(context, alert);
    const [first, ...rest] = alerts;
    const couriers = await readChannels(context, organizationId);
    const again = channels.filter((channel) => deliveryOf(alert, channel)?.state !== "pending");
    await context.client.igwRedeliverAlert({
      outbox: alertOutboxKey(organizationId),
      deliveries: alertDeliveriesKey(organizationId, messageId),
      furtherKeys: couriers.map((channel) => alertCourierKey(organizationId, channel)),
      channels: again.join(" "),
      shown: JSON.stringify(PENDING),
      expiresAtMs: String(expiryOf(month, context.usageMonths)),
      furtherArguments: [
        ...formatAlert(first),
        ...rest.flatMap((other, index) => formatAlert(other, `${index + 2}:`)),
      ],
    });
    await context.client.publish(ALERT_CHANNEL, organizationId);
  },
});

/** Returns where the message of the alert before `position` ends. */
function findEndOfMessage(alerts: readonly AlertRecord[], position: number): number {
  const messageId = alerts[position - 1]?.messageId;
  const end = alerts.findIndex((alert, index) => index >= position && alert.messageId !== messageId);
  return end === -1 ? alerts.length : end;
}

/** Returns an alert with those that fired together with it and are still listed. */
async function findMessage(context: StoreContext, alert: AlertRecord): Promise<AlertMessage> {
  const { organizationId, messageId } = alert;
  const alerts: AlertRecord[] = [];
  for await (const other of scanAlerts(context, organizationId, messageId)) {
    if (other.messageId === messageId) alerts.push(other);
    else if (alerts.length > 0) break;
  }
  const [first = alert, ...rest] = alerts;
  return { id: messageId, organizationId, alerts: [first, ...rest] };
}

/** Iterates over the list from about the alert with this id; nothing if the id is malformed. */
async function* scanAlerts(
  { client }: StoreContext,
  organizationId: string,
  alertId: string,
): AsyncGenerator<AlertRecord> {
  const time = timeOfId(alertId);
  if (time === null || !isId("alert", alertId)) return;
  // An entry never precedes the time in its id, but may follow it if Redis's clock went back.
  let from = String(time);
  for (let read = 0; read < MAX_SCANNED; read += SCAN_ENTRIES) {
    const entries = await client.xrange(alertListKey(organizationId), from, "+", "COUNT", SCAN_ENTRIES);
    for (const [, fields] of entries) yield parseAlert(organizationId, parseFields(fields));
    const last = entries.at(-1);
    if (last === undefined || entries.length < SCAN_ENTRIES) return;
    from = `(${last[0]}`;
  }
}

/** Parses an outbox entry as `lua/include/thresholds.lua` writes it. @throws TypeError */
export function parseMessage(organizationId: string, fields: Readonly<Record<string, string>>): AlertMessage {
  const first = parseAlert(organizationId, fields);
  const rest: AlertRecord[] = [];
  for (let position = 2; fields[`${position}:id`] !== undefined; position += 1) {
    const prefix = `${position}:`;
    const own = Object.entries(fields).filter(([name]) => name.startsWith(prefix));
    const named = own.map(([name, value]) => [name.slice(prefix.length), value]);
    rest.push(parseAlert(organizationId, Object.fromEntries(named) as Record<string, string>));
  }
  return { id: first.messageId, organizationId, alerts: [first, ...rest] };
}

/** Parses the fields of an alert as `lua/include/thresholds.lua` writes them. @throws TypeError */
function parseAlert(organizationId: string, fields: Readonly<Record<string, string>>): AlertRecord {
  const textOf = (name: string): string => {
    const value = fields[name];
    if (value === undefined) throw new TypeError(`an alert in Redis has no field "${name}"`);
    return value;
  };
  const scope = LIMIT_SCOPES.find((known) => known === textOf("scope")) ?? "organization";
  // Monthly alerts, which predate other periods, name none.
  const period = LIMIT_PERIODS.find((known) => known === fields["period"]) ?? "month";
  return {
    id: textOf("id"),
    // Before schema 2 each alert was a message of its own.
    messageId: fields["message"] ?? textOf("id"),
    organizationId,
    kind: ALERT_KINDS.find((known) => known === textOf("kind")) ?? "hard_cap",
    scope,
    period,
    windowStart: windowStart(fields["window"] ?? textOf("month")),
    ownerId: fields["owner"] ?? null,
    ownerName: fields["owner_name"] ?? null,
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

function nameOfWindow({ period, windowStart: start }: AlertRecord): string {
  return start === null ? period : windowName(period, start);
}

function formatAlert(alert: AlertRecord, prefix = ""): string[] {
  const fields = {
    id: alert.id,
    message: alert.messageId,
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
    ...(nameOfWindow(alert) === alert.month ? {} : { period: alert.period, window: nameOfWindow(alert) }),
    ...(alert.ownerId === null ? {} : { owner: alert.ownerId, owner_name: alert.ownerName ?? "" }),
  };
  return Object.entries(fields).flatMap(([name, value]) => [`${prefix}${name}`, String(value)]);
}

async function addDeliveries(
  { client }: StoreContext,
  alert: AlertRecord,
  channels: readonly AlertChannel[],
): Promise<ListedAlert> {
  const stored = await client.hgetall(alertDeliveriesKey(alert.organizationId, alert.messageId));
  const read = (channel: AlertChannel): DeliveryState => {
    const text = stored[channel];
    if (text !== undefined) return deliverySchema.parse(JSON.parse(text));
    return mustDeliver(channel, alert) ? PENDING : { ...PENDING, state: "off" };
  };
  const webhooks = new Map(channels.filter(isWebhookId).map((id) => [id, read(id)]));
  return { ...alert, deliveries: { email: read("email"), webhook: read("webhook"), webhooks } };
}

/** Returns whether the channel must deliver the alert: a webhook only gets alerts that fire after it was created. */
function mustDeliver(channel: AlertChannel, { firedAtMs }: AlertRecord): boolean {
  return !isWebhookId(channel) || (timeOfId(channel) ?? 0) <= firedAtMs;
}
