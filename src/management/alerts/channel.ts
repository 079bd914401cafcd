/** Channel to an organization, as the delivery uses it. */
import type { AlertChannel, AlertMessage, QueuedMessage } from "../../shared/stored/alerts.ts";
import type { OrganizationRecord } from "../../shared/stored/management.ts";

export interface Attempt {
  /** Channel of the delivery: a kind has several if there are several webhooks. */
  readonly channel: AlertChannel;
  /** When the message entered the outbox, by Redis's clock. */
  readonly queuedAtMs: number;
  readonly message: AlertMessage;
  /** Id of the message in the outbox. */
  readonly entryId: string;
  /** Current settings: a corrected address is used from the next attempt. */
  readonly organization: OrganizationRecord;
  /** State saved by the previous attempt, "" for none. */
  readonly progress: string;
  /** Aborted when the process ends, or another has taken over. */
  readonly signal: AbortSignal;
}

export type AttemptResult =
  | {
      readonly outcome: "delivered";
      /** Note for people: a rejected address. */
      readonly note?: string;
      /** Following messages of the outbox that the same attempt delivered. */
      readonly covered?: readonly QueuedMessage[];
    }
  /** Postponed without a failure: the organization has reached its limit per hour. */
  | { readonly outcome: "later"; readonly waitMs: number; readonly reason: string; readonly progress: string }
  /** The organization has not enabled this channel. */
  | { readonly outcome: "off" }
  | {
      readonly outcome: "again";
      readonly error: string;
      /** Minimum wait requested by the receiver. */
      readonly retryAfterMs?: number;
      readonly progress?: string;
    }
  /** Permanent failure: another attempt would fail as well. */
  | { readonly outcome: "failed"; readonly error: string };

export interface Channel {
  /**
   * Attempts a delivery. Never rejects because of the receiver; its time is bounded. Error texts contain no
   * secrets and no addresses of ours.
   */
  attempt(attempt: Attempt): Promise<AttemptResult>;
  /** Closes kept connections. */
  close(): void;
}
