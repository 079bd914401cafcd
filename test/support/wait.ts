import { setTimeout as wait } from "node:timers/promises";

/** Of what takes milliseconds: so much that a machine with five times the work that it can do gets there. */
const TIMEOUT_MS = 25_000;
/** Looking takes a core from what it waits for: the longer it has waited, the less often. */
const [SHORTEST_PAUSE_MS, LONGEST_PAUSE_MS] = [10, 50];

export interface WaitOptions {
  /** Default 25 s. */
  readonly timeoutMs?: number;
  /** Default: a tenth of what it has waited, 10 to 50 ms. */
  readonly intervalMs?: number;
}

/**
 * Resolves with the first value of `read` that is neither undefined, null nor false. Time in which this process got no turn
 * is not counted: on a starved machine what it waits for gets none either.
 * @throws Error naming `what` when the time is over; the last thrown error is its cause.
 */
export async function waitFor<T>(
  what: string,
  read: () => T | Promise<T>,
  options: WaitOptions = {},
): Promise<Exclude<T, undefined | null | false>> {
  const { timeoutMs = TIMEOUT_MS } = options;
  const beganMs = performance.now();
  let deadlineMs = beganMs + timeoutMs;
  let cause: unknown;
  for (;;) {
    try {
      const value = await read();
      if (value !== undefined && value !== null && value !== false) {
        return value as Exclude<T, undefined | null | false>;
      }
    } catch (thrown) {
      cause = thrown;
    }
    if (performance.now() >= deadlineMs) {
      throw new Error(`not within ${timeoutMs} ms: ${what}`, { cause });
    }
    const pausedMs = performance.now();
    const growingMs = Math.min(Math.max((pausedMs - beganMs) / 10, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS);
    const { intervalMs = growingMs } = options;
    await wait(intervalMs);
    const lateMs = performance.now() - pausedMs - intervalMs;
    if (lateMs > intervalMs) deadlineMs += lateMs;
  }
}

/** The promise, or an error naming `what` when it takes longer than `timeoutMs`. */
export async function withTimeout<T>(what: string, promise: Promise<T>, timeoutMs = TIMEOUT_MS): Promise<T> {
  const controller = new AbortController();
  const late = wait(timeoutMs, undefined, { signal: controller.signal }).then((): never => {
    throw new Error(`not within ${timeoutMs} ms: ${what}`);
  });
  late.catch(() => undefined);
  try {
    return await Promise.race([promise, late]);
  } finally {
    controller.abort();
  }
}

/** A door that a test holds shut until it releases it. */
export interface Gate {
  readonly isGate: true;
  readonly opened: Promise<void>;
  release(): void;
}

export function createGate(): Gate {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { isGate: true, opened, release: () => open() };
}
