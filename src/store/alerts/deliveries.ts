/**
 * The outbox of alerts: who delivers what next. A courier for each organization and channel holds a cursor and a lease,
 * so that alerts go out in order and a process that dies is taken over. The rules are in `lua/`.
 */
import { parseMessage } from "./alerts.ts";
import { readChannels } from "./channels.ts";
import { alertCourierKey, alertDeliveriesKey, alertOutboxKey } from "../redis/keys.ts";
import { expiryOf } from "../../time/calendar.ts";
import {
  formatCount,
  integerAt,
  parseArray,
  parseFields,
  textAt,
  unknownOutcome,
} from "../redis/parse-reply.ts";
import { storeOf } from "../run.ts";
import type { DeliveryStore } from "../types/alerts.ts";
import { AT, OUTCOME } from "../redis/reply-layouts.ts";

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
    if (outcome === "held" || outcome === "waiting") {
      return { outcome, waitMs: integerAt(reply, AT.deliveryLater.waitMs) };
    }
    if (outcome !== "claimed") throw unknownOutcome(outcome);
    const at = AT.deliveryClaimed;
    const entryId = textAt(reply, at.entryId);
    const fields = parseFields(reply[at.alert]);
    const only = fields["only"]?.split(" ");
    return {
      outcome,
      message: parseMessage(organizationId, fields),
      entryId,
      isForOthers: only !== undefined && !only.includes(channel),
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
    const { organizationId, channel, owner, claim, shown } = input;
    // After the claim: what is set up from now on is owed nothing of it.
    const others = (await readChannels(context, organizationId)).filter((name) => name !== channel);
    const reply = parseArray(
      await context.client.igwFinishDelivery({
        courier: alertCourierKey(organizationId, channel),
        outbox: alertOutboxKey(organizationId),
        deliveries: alertDeliveriesKey(organizationId, claim.message.id),
        furtherKeys: others.map((name) => alertCourierKey(organizationId, name)),
        owner,
        entry: claim.entryId,
        outcome: input.outcome,
        waitMs: formatCount(input.waitMs ?? 0),
        progress: input.progress ?? "",
        channel,
        shown: shown === null ? "" : JSON.stringify(shown),
        expiresAtMs: String(expiryOf(claim.message.alerts[0].month, context.usageMonths)),
      }),
    );
    return textAt(reply, OUTCOME) === "recorded";
  },

  async listOwedDeliveries(context, organizationId) {
    const channels = await readChannels(context, organizationId);
    const couriers = channels.map((channel) => alertCourierKey(organizationId, channel));
    const reply = parseArray(
      await context.client.igwListDeliveries({
        outbox: alertOutboxKey(organizationId),
        furtherKeys: couriers,
      }),
    );
    const at = AT.deliveryOwed;
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
