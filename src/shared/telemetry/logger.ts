/**
 * Logs: JSON lines on stderr, so that stdout is free for output to programs. As a last protection, fields
 * that could contain a credential are censored by name, and everything that looks like a credential is
 * removed from the line; no code should log one.
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

/** Output shared by all loggers of the process except that of requests; created with the first logger. */
function getStandardError(): LogOutput {
  standardError ??= new LogOutput({ fileDescriptor: 2 });
  return standardError;
}

/** Lines of requests are written together after this time: a killed process loses at most these. */
const GATHER_MS = 100;
const GATHER_CHARACTERS = 4_096;

/**
 * Writes one line per request at level debug; Envoy's access log and the request log have one as well. Its
 * fields are the gateway's own and cannot contain a credential, so they are not censored by name, which costs
 * more than the rest of the line; the line's text is scrubbed as usual.
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

/** Creates a logger whose lines have the component's name; follows the process's level unless a level is given. */
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

/** Only logs the name of Redis errors: they contain the command with all arguments, including AUTH's password. */
function serializeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const serialized: Record<string, unknown> = { ...stdSerializers.err(error) };
  const { command } = serialized as { command?: { name?: unknown } };
  if (command !== undefined) serialized["command"] = command?.name ?? "unknown";
  return serialized;
}
