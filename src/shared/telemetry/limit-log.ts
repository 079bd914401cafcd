import { type Clock, systemClock } from "../time/clock.ts";
import type { Logger } from "../host/logger.ts";

export interface LimitLogOptions {
  readonly clock?: Pick<Clock, "monotonicMs">;
  /** Runs a function once after this many milliseconds. */
  readonly schedule?: (run: () => void, delayMs: number) => void;
}

interface Kind {
  writtenAtMs: number;
  /** Lines not written yet; the first one started a timer. */
  waiting: number;
  lastFields: object;
}

const INTERVAL_MS = 1_000;

/**
 * Limits a log of errors that occur with every request while something is broken: one line per second and
 * message. Suppressed lines are counted, and the count is written with the newest of them (`suppressed`) at
 * the end of the second, so that no line disappears unnoticed. Messages must be constants; put varying values
 * into the fields.
 */
export function limitLog(logger: Logger<"error">, options: LimitLogOptions = {}): Logger<"error"> {
  const { clock = systemClock, schedule = scheduleTimer } = options;
  const kinds = new Map<string, Kind>();
  const write = (message: string, kind: Kind): void => {
    const { waiting, lastFields } = kind;
    kind.writtenAtMs = clock.monotonicMs();
    kind.waiting = 0;
    logger.error(waiting > 1 ? { ...lastFields, suppressed: waiting - 1 } : lastFields, message);
  };
  return {
    error(fields, message) {
      const now = clock.monotonicMs();
      const kind = kinds.get(message) ?? { writtenAtMs: -Infinity, waiting: 0, lastFields: fields };
      kinds.set(message, kind);
      kind.waiting += 1;
      kind.lastFields = fields;
      if (kind.waiting > 1) return;
      const remainingMs = kind.writtenAtMs + INTERVAL_MS - now;
      if (remainingMs <= 0) write(message, kind);
      else schedule(() => write(message, kind), remainingMs);
    },
  };
}

function scheduleTimer(run: () => void, delayMs: number): void {
  setTimeout(run, delayMs).unref();
}
