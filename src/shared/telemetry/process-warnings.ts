/**
 * Warnings of Node itself: a deprecation, listeners that are never removed, a timer without a time. Node's own listener
 * writes them to stderr and throws where that is a file on a full disk, which ends the process: they go the way of all log
 * lines, which lose a line rather than a worker.
 */
import type { Logger } from "../host/logger.ts";

/** Logs the warnings of this process from here on. */
export function logProcessWarnings(logger: Logger<"warn">): void {
  process.removeAllListeners("warning");
  process.on("warning", (warning) => logger.warn({ err: warning }, "node warning"));
}
