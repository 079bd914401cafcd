import type { AlertChannelKind } from "../../data-path/store/types/alerts.ts";

export interface ChannelMetrics {
  /** Alerts that arrived. */
  readonly delivered: number;
  /** Alerts that were given up. */
  readonly failed: number;
  /** Attempts that failed, the last one of a failed alert included. */
  readonly failedAttempts: number;
}

/** Counters of one process since it began; the age is that of all organizations, whoever delivers for them. */
export interface AlertMetrics {
  /** Fired by commands of this process: closings, corrections and changed limits; workers count theirs. */
  readonly fired: number;
  readonly channels: Readonly<Record<AlertChannelKind, ChannelMetrics>>;
  /** Seconds since the oldest alert that some channel is still owed fired; 0 when there is none. Read once a minute. */
  readonly oldestUndeliveredSeconds: number;
}

type Counters = { -readonly [Name in keyof ChannelMetrics]: ChannelMetrics[Name] };

export function createChannelCounters(): Record<AlertChannelKind, Counters> {
  const create = (): Counters => ({ delivered: 0, failed: 0, failedAttempts: 0 });
  return { email: create(), webhook: create() };
}
