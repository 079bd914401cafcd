/**
 * Outbox of alerts. A courier for each organization and channel holds a cursor and a lease, so that alerts
 * are sent in order and another process takes over if one dies. The rules are in `lua/`.
 */
import { parseMessage } from "./alerts.ts";
import { readChannels } from "./channels.ts";
import { alertCourierKey, alertDeliveriesKey, alertOutboxKey, emailCountKey } from "../redis/keys.ts";
import { expiryOf } from "../../../shared/time/calendar.ts";
import {
  formatCount,
  integerAt,
  parseArray,
  parseFields,
  textAt,
  unknownOutcome,
} from "../redis/parse-reply.ts";
import { storeOf } from "../run.ts";
import type { StoreContext } from "../context.ts";
import type {
  AlertChannel,
  DeliveryState,
  DeliveryStore,
  FinishInput,
  QueuedMessage,
} from "../../../shared/stored/alerts.ts";
import { AT, OUTCOME } from "../redis/reply-layouts.ts";

const HOUR_MS = 3_600_000;

export const createDeliveryStore = storeOf<DeliveryStore>({
  async claimDelivery(context, organizationId, channel, owner, leaseMs) {
    const reply = parseArray(
      await context.client.igwClaimDelivery({
        courier: alertCourierKey(organizationId, channel),
        outbox: alertOutboxKey(organizationId),
        owner,
        leaseMs: formatCount(leaseMs),
      }),
    );
    const outcome = textAt(reply, OUTCOME);
    if (outcome === "idle") return { outcome };
    if (outcome === "leased" || outcome === "waiting") {
      return { outcome, waitMs: integerAt(reply, AT.deliveryLater.waitMs) };
    }
    if (outcome !== "claimed") throw unknownOutcome(outcome);
    const at = AT.deliveryClaimed;
    const entryId = textAt(reply, at.entryId);
    return {
      outcome,
      ...readEntry(organizationId, channel, entryId, parseFields(reply[at.alert])),
      queuedAtMs: timeOfEntry(entryId),
      nowMs: integerAt(reply, at.nowMs),
      failedAttempts: integerAt(reply, at.failedAttempts),
      progress: textAt(reply, at.progress),
    };
  },

  async renewDelivery(context, organizationId, channel, owner, leaseMs) {
    const courier = alertCourierKey(organizationId, channel);
    const reply = parseArray(
      await context.client.igwRenewDelivery({ courier, owner, leaseMs: formatCount(leaseMs) }),
    );
    return textAt(reply, OUTCOME) === "renewed";
  },

  async finishDelivery(context, input) {
    const { organizationId, channel, owner, claim, shown, covered = [] } = input;
    const last = covered.at(-1) ?? claim;
    // Read after the claim: webhooks created later need not deliver this message.
    const otherChannels = (await readChannels(context, organizationId)).filter((name) => name !== channel);
    const reply = parseArray(
      await context.client.igwFinishDelivery({
        courier: alertCourierKey(organizationId, channel),
        outbox: alertOutboxKey(organizationId),
        deliveries: alertDeliveriesKey(organizationId, claim.message.id),
        furtherKeys: otherChannels.map((name) => alertCourierKey(organizationId, name)),
        owner,
        entry: last.entryId,
        outcome: input.outcome,
        waitMs: formatCount(input.waitMs ?? 0),
        progress: input.progress ?? "",
        channel,
        shown: formatShown(shown),
        expiresAtMs: expiryOfMessage(claim, context),
      }),
    );
    const isRecorded = textAt(reply, OUTCOME) === "recorded";
    if (isRecorded && shown !== null) await showCovered(context, input, shown);
    return isRecorded;
  },

  async listQueued({ client }, organizationId, channel, entryId, count) {
    const outbox = alertOutboxKey(organizationId);
    const entries = await client.xrange(outbox, `(${entryId}`, "+", "COUNT", count);
    return entries.map(([id, fields]) => readEntry(organizationId, channel, id, parseFields(fields)));
  },

  async takeEmail({ client }, organizationId, maxPerHour) {
    const key = emailCountKey(organizationId);
    await client.set(key, "0", "PX", HOUR_MS, "NX");
    if ((await client.incr(key)) <= maxPerHour) return 0;
    // -2: the hour ended between the two calls. -1: the count lost its expiry in a failover.
    const remainingMs = await client.pttl(key);
    if (remainingMs === -1) await client.pexpire(key, HOUR_MS);
    return Math.max(1, remainingMs);
  },

  async listOutstandingDeliveries(context, organizationId) {
    const channels = await readChannels(context, organizationId);
    const couriers = channels.map((channel) => alertCourierKey(organizationId, channel));
    const reply = parseArray(
      await context.client.igwListDeliveries({
        outbox: alertOutboxKey(organizationId),
        furtherKeys: couriers,
      }),
    );
    const at = AT.deliveryPending;
    return channels.flatMap((channel, index) => {
      const next = parseArray(reply[index]);
      if (textAt(next, OUTCOME) === "idle") return [];
      const queuedAtMs = timeOfEntry(textAt(next, at.entryId));
      return [{ channel, queuedAtMs, waitMs: integerAt(next, at.waitMs) }];
    });
  },
});

function timeOfEntry(entryId: string): number {
  return Number(entryId.split("-")[0]);
}

function readEntry(
  organizationId: string,
  channel: AlertChannel,
  entryId: string,
  fields: Readonly<Record<string, string>>,
): QueuedMessage {
  const only = fields["only"]?.split(" ");
  const isForOtherChannels = only !== undefined && !only.includes(channel);
  return { entryId, message: parseMessage(organizationId, fields), isForOtherChannels };
}

/** Updates the displayed state of messages that one email covered together. */
async function showCovered(
  context: StoreContext,
  { organizationId, channel, covered = [] }: FinishInput,
  shown: DeliveryState,
): Promise<void> {
  for (const queued of covered.filter(({ isForOtherChannels }) => !isForOtherChannels)) {
    const deliveries = alertDeliveriesKey(organizationId, queued.message.id);
    await context.client.hset(deliveries, channel, formatShown(shown));
    await context.client.pexpireat(deliveries, expiryOfMessage(queued, context));
  }
}

function formatShown(shown: DeliveryState | null): string {
  return shown === null ? "" : JSON.stringify(shown);
}

function expiryOfMessage({ message }: Pick<QueuedMessage, "message">, { usageMonths }: StoreContext): string {
  return String(expiryOf(message.alerts[0].month, usageMonths));
}
