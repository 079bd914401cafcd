/** Alerts and the state of their delivery. */
import type { LimitPeriod } from "../settings/limits.ts";
import type { LimitScope } from "./decision.ts";
import type { Page, PageInput } from "./page.ts";

/** Channels that every organization has; further webhooks are additional channels. */
export const ALERT_CHANNELS = ["email", "webhook"] as const;
export type AlertChannelKind = (typeof ALERT_CHANNELS)[number];
/** Id of one of an organization's further webhooks. */
export type WebhookId = `webhook_${string}`;
/**
 * Channel that leaves the gateway, each with its own courier. The dashboard is no channel: it shows the list
 * itself.
 */
export type AlertChannel = AlertChannelKind | WebhookId;

/** Returns how a channel sends. */
export function kindOfChannel(channel: AlertChannel): AlertChannelKind {
  return channel === "email" ? "email" : "webhook";
}

/**
 * Kinds of alerts: a threshold of a limit is reached; the forecast exceeds a limit; a day's spend is unusual; a summary of a
 * past window.
 */
export const ALERT_KINDS = [
  "budget",
  "hard_cap",
  "budget_forecast",
  "hard_cap_forecast",
  "sudden_spend",
  "summary",
] as const;
export type AlertKind = (typeof ALERT_KINDS)[number];

export interface AlertRecord {
  /** `alert_…` */
  readonly id: string;
  /** Id of the message that contains the alert: the id of the first of all alerts that fired in one step. */
  readonly messageId: string;
  readonly organizationId: string;
  readonly kind: AlertKind;
  readonly scope: LimitScope;
  readonly period: LimitPeriod;
  /** First day of the window whose spend reached the threshold, "2026-11-23"; null: the window of all time. */
  readonly windowStart: string | null;
  /** Id of the user or group, and its name when the alert fired; null for other scopes. */
  readonly ownerId: string | null;
  readonly ownerName: string | null;
  /** Null for other scopes. */
  readonly keyId: string | null;
  /** Name when the alert fired. */
  readonly keyName: string | null;
  /** Share of the amount: of a limit its threshold or the forecast; otherwise the spend. */
  readonly thresholdPercent: number;
  /** The limit; usual spend of a day; or spend of the window before the summary's. */
  readonly amountCents: number;
  readonly spentMicrocents: bigint;
  readonly currency: string;
  /** Month in which it fired, "2026-11". */
  readonly month: string;
  /** Time by Redis's clock. */
  readonly firedAtMs: number;
}

/** Alerts that fired in one step: one email, one webhook event. */
export interface AlertMessage {
  /** `alert_…`, the id of its first alert; the same in every attempt and in requested redeliveries. */
  readonly id: string;
  readonly organizationId: string;
  /** At least one alert, in the order in which they fired. */
  readonly alerts: readonly [AlertRecord, ...AlertRecord[]];
}

/** `off`: the organization had not enabled the channel when the alert was due for delivery. */
export type DeliveryStateName = "pending" | "delivered" | "failed" | "off";

/** State of the delivery of one message to one channel. */
export interface DeliveryState {
  readonly state: DeliveryStateName;
  /** Attempts so far; a requested redelivery starts at 0. */
  readonly attempts: number;
  /** Why the last attempt failed, or null. */
  readonly lastError: string | null;
  /** End of the last attempt, or null. */
  readonly lastAttemptAtMs: number | null;
  /** Null unless another attempt follows. */
  readonly nextAttemptAtMs: number | null;
}

export interface ListedAlert extends AlertRecord {
  /** Deliveries of its message. */
  readonly deliveries: Readonly<Record<AlertChannelKind, DeliveryState>> & {
    /** Deliveries to the further webhooks that the organization has now. */
    readonly webhooks: ReadonlyMap<WebhookId, DeliveryState>;
  };
}

/** Returns the state of the delivery to a channel; null for a webhook that the organization does not have. */
export function deliveryOf({ deliveries }: ListedAlert, channel: AlertChannel): DeliveryState | null {
  if (channel === "email" || channel === "webhook") return deliveries[channel];
  return deliveries.webhooks.get(channel) ?? null;
}

/** Delivery that only this process is to attempt now. */
export interface ClaimedDelivery {
  readonly outcome: "claimed";
  readonly message: AlertMessage;
  /** Id in the outbox. */
  readonly entryId: string;
  /** True if a redelivery was requested for other channels only. */
  readonly isForOtherChannels: boolean;
  /** When it entered the outbox. */
  readonly queuedAtMs: number;
  /** Time by Redis's clock. */
  readonly nowMs: number;
  readonly failedAttempts: number;
  /** State that the last attempt saved for this one; "" if there is none. */
  readonly progress: string;
}

/** Message in the outbox that follows the claimed one. */
export interface QueuedMessage {
  readonly entryId: string;
  readonly message: AlertMessage;
  /** True if a redelivery was requested for other channels only. */
  readonly isForOtherChannels: boolean;
}

export type DeliveryClaim =
  | ClaimedDelivery
  | { readonly outcome: "idle" }
  /** `leased`: another process is attempting it. `waiting`: the next attempt is not due yet. */
  | { readonly outcome: "leased" | "waiting"; readonly waitMs: number };

export interface FinishInput {
  readonly organizationId: string;
  readonly channel: AlertChannel;
  readonly owner: string;
  readonly claim: ClaimedDelivery;
  /**
   * `done`: continue with the next alert. `again`: retry this one. `later`: the same, without an attempt
   * made. `untried`: as if it had not been claimed.
   */
  readonly outcome: "done" | "again" | "later" | "untried";
  /** With `again` and `later`. */
  readonly waitMs?: number;
  /** With `again` and `later`: state for the next attempt. */
  readonly progress?: string;
  /** With `done`: following messages of the outbox that this delivery covered. */
  readonly covered?: readonly QueuedMessage[];
  /** Null: keep the displayed state. */
  readonly shown: DeliveryState | null;
}

/** Deliveries that one channel of an organization still has to make. */
export interface OutstandingDelivery {
  readonly channel: AlertChannel;
  /** When the oldest of them entered the outbox, Unix milliseconds. */
  readonly queuedAtMs: number;
  /** Time until the next attempt. */
  readonly waitMs: number;
}

export interface AlertPageInput extends PageInput {
  /** End pages with a whole message, even if that makes them longer than the limit. */
  readonly wholeMessages?: true;
}

/** Alerts that a look at the spend fires, and not the spend itself. */
export interface AlertWatchStore {
  /** Returns whether this caller is to look now: at most one in the interval, of all processes. */
  takeWatch(organizationId: string, intervalMs: number): Promise<boolean>;
  /** Returns whether `raiseAlert` has fired this in the month of its expiry. */
  wasRaised(organizationId: string, month: string, once: string): Promise<boolean>;
  /**
   * Fires an alert in the list and the outbox. False: it has fired before, or the organization is deleted.
   * @param once What fires, for its subject and window, within the alert's month.
   */
  raiseAlert(alert: AlertRecord, once: string): Promise<boolean>;
}

export interface AlertStore {
  /** Lists alerts, newest first; about 10,000 are kept. `next` of a page is not an alert id. */
  listAlerts(organizationId: string, page: AlertPageInput): Promise<Page<ListedAlert>>;
  findAlert(organizationId: string, alertId: string): Promise<ListedAlert | null>;
  /**
   * Number of alerts since a reader last marked the list as read, at most 100. @param reader Id of a person or
   * token: alerts that fired before it was created are not new to it.
   */
  countUnreadAlerts(organizationId: string, reader: string): Promise<number>;
  /** Marks all alerts up to now as read by this reader. */
  markAlertsRead(organizationId: string, reader: string): Promise<void>;
  /**
   * Sends an alert's message again on these channels, and makes all waiting retries of the channels due at
   * once. A message that is still in the outbox of a channel is not added a second time.
   */
  redeliverAlert(alert: ListedAlert, channels: readonly AlertChannel[]): Promise<void>;
}

/** Outbox of alert messages and their leases. */
export interface DeliveryStore {
  /**
   * Claims the next alert of a channel. @param leaseMs Time for which no other process can claim it, unless
   * renewed.
   */
  claimDelivery(
    organizationId: string,
    channel: AlertChannel,
    owner: string,
    leaseMs: number,
  ): Promise<DeliveryClaim>;
  /** Renews the lease. False: another process has taken over. */
  renewDelivery(
    organizationId: string,
    channel: AlertChannel,
    owner: string,
    leaseMs: number,
  ): Promise<boolean>;
  /** Records the outcome. False: another process has taken over, nothing was changed. */
  finishDelivery(input: FinishInput): Promise<boolean>;
  /** Lists the next messages of this channel that follow an entry, in order, at most `count`. */
  listQueued(
    organizationId: string,
    channel: AlertChannel,
    entryId: string,
    count: number,
  ): Promise<readonly QueuedMessage[]>;
  /**
   * Counts an email of an organization. Returns 0 if it may be sent, otherwise the milliseconds until the
   * current hour ends.
   */
  takeEmail(organizationId: string, maxPerHour: number): Promise<number>;
  /** Lists the channels of an organization with outstanding deliveries. */
  listOutstandingDeliveries(organizationId: string): Promise<readonly OutstandingDelivery[]>;
}
