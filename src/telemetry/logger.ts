/**
 * Logs: JSON lines on stderr, so that stdout stays for what programs read. Fields that could hold a credential are
 * censored by name and whatever has the form of one is taken out of the line, as the last of several locks: no code
 * passes them here.
 */
import { type Logger, destination, pino, stdTimeFunctions } from "pino";
import { followLogLevel, type LogLevel } from "./log-level.ts";
import { scrub } from "./scrub.ts";

export type { Logger } from "pino";

const CREDENTIAL_FIELDS = [
  "authorization",
  "x-api-key",
  "cookie",
  "key",
  "token",
  "secret",
  "password",
  "credential",
];

/** Lines of requests leave together after so long, or so many bytes: a process that is killed loses no more. */
const GATHER_MS = 100;
const GATHER_BYTES = 4_096;

/**
 * Writes the line of each request. Its fields are the gateway's own, none can hold a credential, so they are not
 * censored by name, which costs more than the rest of the line; as text the line is scrubbed like every other.
 */
export function createRequestLogger(component: string): Logger {
  const output = destination({
    fd: 2,
    sync: false,
    minLength: GATHER_BYTES,
    periodicFlush: GATHER_MS,
  });
  const logger = pino({ ...lineOptions(component), level: "info" }, output);
  followLogLevel(logger);
  return logger;
}

/** A logger whose lines carry the component's name; it follows the process's level unless it is given one. */
export function createLogger(
  component: string,
  level?: LogLevel,
  output: { write(text: string): unknown } = destination({ fd: 2, sync: false, minLength: 0 }),
): Logger {
  const logger = pino(
    {
      ...lineOptions(component),
      level: level ?? "info",
      redact: {
        paths: CREDENTIAL_FIELDS.flatMap((name) => [`["${name}"]`, `*["${name}"]`]),
        censor: "[redacted]",
      },
    },
    output as never,
  );
  if (level === undefined) followLogLevel(logger);
  return logger;
}

function lineOptions(component: string) {
  return {
    base: { component, pid: process.pid },
    timestamp: stdTimeFunctions.isoTime,
    hooks: { streamWrite: scrub },
  };
}
