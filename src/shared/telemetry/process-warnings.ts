/**
 * Warnings of Node: deprecations, listener leaks, invalid timers. Node's own listener writes them to stderr
 * and throws if that is a file on a full disk, which would end the process. Our logger drops the line
 * instead.
 */
import type { Logger } from "../host/logger.ts";

/** Logs all further warnings of this process. */
export function logProcessWarnings(logger: Logger<"warn">): void {
  process.removeAllListeners("warning");
  process.on("warning", (warning) => logger.warn({ err: warning }, "node warning"));
}
