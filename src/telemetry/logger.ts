/**
 * Logs: JSON lines on stderr, so that stdout stays for what programs read. Fields that could hold a credential are
 * censored by name, as the last of several locks: no code passes them here.
 */
import { type Logger, destination, pino, stdTimeFunctions } from "pino";

export type { Logger } from "pino";

const CREDENTIAL_FIELDS = ["authorization", "x-api-key", "cookie", "key", "token", "secret", "password", "credential"];

export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** A logger whose lines carry the component's name. */
export function createLogger(component: string, level: LogLevel = "info"): Logger {
  return pino(
    {
      level,
      base: { component, pid: process.pid },
      timestamp: stdTimeFunctions.isoTime,
      redact: { paths: CREDENTIAL_FIELDS.flatMap((name) => [`["${name}"]`, `*["${name}"]`]), censor: "[redacted]" },
    },
    destination({ fd: 2, sync: false, minLength: 0 }),
  );
}
