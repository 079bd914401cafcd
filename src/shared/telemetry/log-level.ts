/** How much the loggers of this process write, changeable while it runs. */
export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const loggers = new Set<{ level: string }>();
let current: LogLevel = "info";

/** Has the logger follow the process's level. There are a handful per process, and they live as long as it. */
export function followLogLevel(logger: { level: string }): void {
  logger.level = current;
  loggers.add(logger);
}

export function getLogLevel(): LogLevel {
  return current;
}

/** Sets the level of every logger of this process, at once. */
export function setLogLevel(level: LogLevel): void {
  current = level;
  for (const logger of loggers) logger.level = level;
}

export function isLogLevel(value: unknown): value is LogLevel {
  return LOG_LEVELS.some((level) => level === value);
}
