/** A way to tell an organization, as the delivery sees it. */
import type { AlertChannel, AlertMessage, QueuedMessage } from "../../data-path/store/types/alerts.ts";
import type { OrganizationRecord } from "../../data-path/store/types/management.ts";

export interface Attempt {
  /** On which it goes: a kind has several where there are several webhooks. */
  readonly channel: AlertChannel;
  /** When the message was put into the outbox, by Redis's clock. */
  readonly queuedAtMs: number;
  readonly message: AlertMessage;
  /** Id of the message in the outbox. */
  readonly entryId: string;
  /** As it is now: an address that was corrected meanwhile is used from the next attempt on. */
  readonly organization: OrganizationRecord;
  /** What the attempt before left for this one, "" for nothing. */
  readonly progress: string;
  /** The process ends, or another has taken over. */
  readonly signal: AbortSignal;
}

export type AttemptResult =
  | {
      readonly outcome: "delivered";
      /** What people should know nevertheless: an address that was refused. */
      readonly note?: string;
      /** Messages behind it in the outbox that the same attempt delivered. */
      readonly covered?: readonly QueuedMessage[];
    }
  /** Not now, and no fault of anybody's: the organization has had what it gets in a while. */
  | { readonly outcome: "later"; readonly waitMs: number; readonly reason: string; readonly progress: string }
  /** The organization has not chosen this channel. */
  | { readonly outcome: "off" }
  | {
      readonly outcome: "again";
      readonly error: string;
      /** At least; the receiver asked for it. */
      readonly retryAfterMs?: number;
      readonly progress?: string;
    }
  /** For good: another attempt would end the same way. */
  | { readonly outcome: "failed"; readonly error: string };

export interface Channel {
  /** Never rejects for what the other side does; its wait is bounded. Error texts hold no secrets and no addresses of ours. */
  attempt(attempt: Attempt): Promise<AttemptResult>;
  /** Ends connections that were kept. */
  close(): void;
}
