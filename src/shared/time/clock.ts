/**
 * Time, passed in wherever it is read, so that a test can set it. Decisions about money and limits never use it:
 * they take Redis's own `TIME`, so that no worker's clock matters.
 */
export interface Clock {
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  nowMs(): number;
  /** Milliseconds of a clock that never goes back; only differences mean anything. */
  monotonicMs(): number;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};
