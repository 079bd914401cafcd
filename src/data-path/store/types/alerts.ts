/** Alerts: what was reached, and how the telling goes. */
import type { LimitPeriod } from "../../../shared/settings/limits.ts";
import type { LimitScope } from "./decision.ts";
import type { Page, PageInput } from "./page.ts";

/** What every organization has; the other channels are its further webhooks. */
export const ALERT_CHANNELS = ["email", "webhook"] as const;
export type AlertChannelKind = (typeof ALERT_CHANNELS)[number];
/** The id of one of an organization's further webhooks. */
export type WebhookId = `webhook_${string}`;
/** What leaves the gateway, each with a courier of its own. The dashboard is no channel here: it is the list itself. */
export type AlertChannel = AlertChannelKind | WebhookId;

/** How a channel sends. */
export function kindOfChannel(channel: AlertChannel): AlertChannelKind {
  return channel === "email" ? "email" : "webhook";
}

export interface AlertRecord {
  /** `alert_…` */
  readonly id: string;
  /** The message that tells of it: the same for all that fired in one step, the id of the first of them. */
  readonly messageId: string;
  readonly organizationId: string;
  readonly kind: "budget" | "hard_cap";
  readonly scope: LimitScope;
  readonly period: LimitPeriod;
  /** The first day of the window whose spend has reached the threshold, "2026-11-23"; null: that of all time. */
  readonly windowStart: string | null;
  /** Of a user or a group, and its name as it was when the alert fired; null when the scope is another. */
  readonly ownerId: string | null;
  readonly ownerName: string | null;
  /** Null when the scope is another. */
  readonly keyId: string | null;
  /** As it was when the alert fired. */
  readonly keyName: string | null;
  readonly thresholdPercent: number;
  readonly amountCents: number;
  readonly spentMicrocents: bigint;
  readonly currency: string;
  /** In which it fired, "2026-11". */
  readonly month: string;
  /** Redis's clock. */
  readonly firedAtMs: number;
}

/** What fired in one step: one mail, one event of a webhook. */
export interface AlertMessage {
  /** `alert_…`, that of its first alert; the same in every attempt and in a delivery that was asked for again. */
  readonly id: string;
  readonly organizationId: string;
  /** At least one, in the order in which they fired. */
  readonly alerts: readonly [AlertRecord, ...AlertRecord[]];
}

/** `off`: the organization had not chosen the channel when the alert came up for delivery. */
export type DeliveryStateName = "pending" | "delivered" | "failed" | "off";

/** How the delivery of one message to one channel stands. */
export interface DeliveryState {
  readonly state: DeliveryStateName;
  /** Attempts so far; a delivery that was asked for again begins at 0. */
  readonly attempts: number;
  /** Why the last attempt failed, or null. */
  readonly lastError: string | null;
  /** End of the last attempt, or null. */
  readonly lastAttemptAtMs: number | null;
  /** Null unless another attempt follows. */
  readonly nextAttemptAtMs: number | null;
}

export interface ListedAlert extends AlertRecord {
  /** Of its message. */
  readonly deliveries: Readonly<Record<AlertChannelKind, DeliveryState>> & {
    /** Of the further webhooks that the organization has now. */
    readonly webhooks: ReadonlyMap<WebhookId, DeliveryState>;
  };
}

/** How the delivery to a channel stands; null for a webhook that the organization has not. */
export function deliveryOf({ deliveries }: ListedAlert, channel: AlertChannel): DeliveryState | null {
  if (channel === "email" || channel === "webhook") return deliveries[channel];
  return deliveries.webhooks.get(channel) ?? null;
}

/** A delivery that this process, and no other, is to attempt now. */
export interface ClaimedDelivery {
  readonly outcome: "claimed";
  readonly message: AlertMessage;
  /** In the outbox. */
  readonly entryId: string;
  /** Asked for again for other channels only. */
  readonly isForOthers: boolean;
  /** Into the outbox. */
  readonly queuedAtMs: number;
  /** Redis's clock. */
  readonly nowMs: number;
  readonly failedAttempts: number;
  /** What the last attempt left for this one, "" when there is nothing. */
  readonly progress: string;
}

/** A message in the outbox, behind the one that is claimed. */
export interface QueuedMessage {
  readonly entryId: string;
  readonly message: AlertMessage;
  /** Asked for again for other channels only. */
  readonly isForOthers: boolean;
}

export type DeliveryClaim =
  | ClaimedDelivery
  | { readonly outcome: "idle" }
  /** `held`: another process is at it. `waiting`: the next try is not due yet. */
  | { readonly outcome: "held" | "waiting"; readonly waitMs: number };

export interface FinishInput {
  readonly organizationId: string;
  readonly channel: AlertChannel;
  readonly owner: string;
  readonly claim: ClaimedDelivery;
  /**
   * `done`: go on to the next alert. `again`: try this one again. `later`: the same, without an attempt made. `untried`: as
   * if it had not been taken up.
   */
  readonly outcome: "done" | "again" | "later" | "untried";
  /** `again`, `later`. */
  readonly waitMs?: number;
  /** `again`, `later`: handed to the next attempt. */
  readonly progress?: string;
  /** `done`: these behind it in the outbox are done with it. */
  readonly covered?: readonly QueuedMessage[];
  /** Null: what is shown stays as it is. */
  readonly shown: DeliveryState | null;
}

/** What one channel of an organization is owed. */
export interface OwedDelivery {
  readonly channel: AlertChannel;
  /** Since when the oldest of them is in the outbox, Unix milliseconds. */
  readonly queuedAtMs: number;
  /** Until it may be tried. */
  readonly waitMs: number;
}

export interface AlertPageInput extends PageInput {
  /** A page ends with a message, and may be longer by the rest of its last one. */
  readonly wholeMessages?: true;
}

export interface AlertStore {
  /** Newest first; about 10,000 are kept. `next` of a page is not an alert's id. */
  listAlerts(organizationId: string, page: AlertPageInput): Promise<Page<ListedAlert>>;
  findAlert(organizationId: string, alertId: string): Promise<ListedAlert | null>;
  /** Alerts since the list was last marked as read; more than 100 count as 100. */
  countUnreadAlerts(organizationId: string): Promise<number>;
  /** Marks all alerts up to now as read. */
  markAlertsRead(organizationId: string): Promise<void>;
  /**
   * Sends an alert's message again on these channels, and lets whatever else waits for a next try be tried at once. One
   * that is still on its way on a channel is not put into the outbox a second time.
   */
  redeliverAlert(alert: ListedAlert, channels: readonly AlertChannel[]): Promise<void>;
}

/** The outbox: who delivers what next. */
export interface DeliveryStore {
  /** The next alert that a channel is owed. @param leaseMs How long nobody else is given it, unless renewed. */
  claimDelivery(
    organizationId: string,
    channel: AlertChannel,
    owner: string,
    leaseMs: number,
  ): Promise<DeliveryClaim>;
  /** False: another process has taken over. */
  renewDelivery(
    organizationId: string,
    channel: AlertChannel,
    owner: string,
    leaseMs: number,
  ): Promise<boolean>;
  /** False: another process has taken over, nothing was changed. */
  finishDelivery(input: FinishInput): Promise<boolean>;
  /** The next messages behind an entry that this channel is owed, in order, at most `count`. */
  listQueued(
    organizationId: string,
    channel: AlertChannel,
    entryId: string,
    count: number,
  ): Promise<readonly QueuedMessage[]>;
  /** Counts an email of an organization. 0: it may go; otherwise milliseconds until the hour is over that has had its number. */
  takeEmail(organizationId: string, maxPerHour: number): Promise<number>;
  /** The channels of an organization that are owed something. */
  listOwedDeliveries(organizationId: string): Promise<readonly OwedDelivery[]>;
}
