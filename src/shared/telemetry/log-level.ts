/** Log level of this process, changeable at run time. */
export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const loggers = new Set<{ level: string }>();
let current: LogLevel = "info";

/** Makes the logger follow the process's level. Loggers are few and live as long as the process. */
export function followLogLevel(logger: { level: string }): void {
  logger.level = current;
  loggers.add(logger);
}

export function getLogLevel(): LogLevel {
  return current;
}

/** Sets the level of every logger of this process at once. */
export function setLogLevel(level: LogLevel): void {
  current = level;
  for (const logger of loggers) logger.level = level;
}

export function isLogLevel(value: unknown): value is LogLevel {
  return LOG_LEVELS.some((level) => level === value);
}
