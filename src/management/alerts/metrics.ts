import type { AlertChannelKind } from "../../shared/stored/alerts.ts";

export interface ChannelMetrics {
  /** Number of delivered alerts. */
  readonly delivered: number;
  /** Number of alerts whose delivery was given up. */
  readonly failed: number;
  /** Number of failed attempts, including the last one of a failed alert. */
  readonly failedAttempts: number;
}

/**
 * Counters of one process since its start; the age covers all organizations, even if another process delivers
 * for them.
 */
export interface AlertMetrics {
  /** Alerts fired by commands of this process: closings, corrections and changed limits; workers count theirs. */
  readonly fired: number;
  readonly channels: Readonly<Record<AlertChannelKind, ChannelMetrics>>;
  /** Age in seconds of the oldest alert with an outstanding delivery; 0 if none. Read once a minute. */
  readonly oldestUndeliveredSeconds: number;
}

type Counters = { -readonly [Name in keyof ChannelMetrics]: ChannelMetrics[Name] };

export function createChannelCounters(): Record<AlertChannelKind, Counters> {
  const create = (): Counters => ({ delivered: 0, failed: 0, failedAttempts: 0 });
  return { email: create(), webhook: create() };
}
