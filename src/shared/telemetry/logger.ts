/**
 * Logs: JSON lines on stderr, so that stdout stays for what programs read. Fields that could hold a credential are
 * censored by name and whatever has the form of one is taken out of the line, as the last of several locks: no code
 * passes them here.
 */
import { pino, stdSerializers, stdTimeFunctions } from "pino";
import type { Logger } from "../host/logger.ts";
import type { RequestLineLogger } from "./request-meter.ts";
import { followLogLevel, type LogLevel } from "./log-level.ts";
import { LogOutput } from "./log-output.ts";
import { escapeHidden } from "../text/plain-text.ts";
import { scrub } from "../text/scrub.ts";

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

let standardError: LogOutput | null = null;

/** One for all loggers of the process but that of requests, made when the first one is. */
function getStandardError(): LogOutput {
  standardError ??= new LogOutput({ fileDescriptor: 2 });
  return standardError;
}

/** Lines of requests leave together after so long, or so many characters: a process that is killed loses no more. */
const GATHER_MS = 100;
const GATHER_CHARACTERS = 4_096;

/**
 * Writes the line of each request, at level debug: Envoy's access log and the log of requests tell of each one already. Its fields are the gateway's own, none can hold a credential, so they are not
 * censored by name, which costs more than the rest of the line; as text the line is scrubbed like every other.
 */
export function createRequestLogger(component: string): RequestLineLogger {
  const output = new LogOutput({
    fileDescriptor: 2,
    gather: { forMs: GATHER_MS, characters: GATHER_CHARACTERS },
  });
  const logger = pino({ ...lineOptions(component), level: "info" }, output as never);
  followLogLevel(logger);
  return {
    get isOn() {
      return logger.isLevelEnabled("debug");
    },
    write: (fields) => logger.debug(fields, "request"),
  };
}

/** A logger whose lines carry the component's name; it follows the process's level unless it is given one. */
export function createLogger(
  component: string,
  level?: LogLevel,
  output: { write(text: string): unknown } = getStandardError(),
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
    hooks: { streamWrite: (line: string) => escapeHidden(scrub(line)) },
    serializers: { err: serializeError },
  };
}

/** A Redis error carries its command with all arguments, AUTH's password among them: its name is enough. */
function serializeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const serialized: Record<string, unknown> = { ...stdSerializers.err(error) };
  const { command } = serialized as { command?: { name?: unknown } };
  if (command !== undefined) serialized["command"] = command?.name ?? "unknown";
  return serialized;
}
