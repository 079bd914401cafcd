/**
 * Clock that is passed in, so that tests can set the time. Decisions about money and limits never use it:
 * they use Redis's `TIME`, so that workers' clocks do not matter.
 */
export interface Clock {
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  nowMs(): number;
  /** Milliseconds of a monotonic clock; only differences are meaningful. */
  monotonicMs(): number;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};
