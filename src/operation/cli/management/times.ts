/** Times as people write them: a UTC day, an RFC 3339 time, or how long from now: "90m", "12h", "30d". */
import { InvalidArgumentError } from "commander";
import { NONE, type OrNone } from "./options.ts";
import { isDay } from "../../../shared/time/calendar.ts";

const SECONDS = { s: 1, m: 60, h: 3600, d: 86_400 } as const;
const DURATION = /^(\d{1,9})([smhd]?)$/;
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})$/;

/** "24h", or a plain number of seconds; in seconds. For commander: @throws InvalidArgumentError. */
export function parseDuration(text: string): number {
  const seconds = secondsOf(text);
  if (seconds !== null) return seconds;
  throw new InvalidArgumentError("expected a time such as 30m, 24h or 7d, or a number of seconds");
}

/** When something happened: "2h" is two hours ago. A day stays one, for the API. For commander: @throws InvalidArgumentError. */
export function parsePastTime(text: string): string {
  return parseTime(text, -1);
}

/** From when something holds: "90d" is in ninety days, a day its beginning (UTC), or "none". For commander: @throws InvalidArgumentError. */
export function parseFutureTime(text: string): OrNone<string> {
  if (text === NONE) return NONE;
  const time = parseTime(text, 1);
  return isDay(time) ? `${time}T00:00:00Z` : time;
}

/** "2026-11-21T14:03:59Z" of an answer's time. */
export function formatSecond(time: unknown): string {
  return `${String(time).slice(0, "2026-11-21T14:03:59".length)}Z`;
}

function parseTime(text: string, direction: 1 | -1): string {
  const seconds = /[smhd]$/.test(text) ? secondsOf(text) : null;
  if (seconds !== null) return new Date(Date.now() + direction * seconds * 1000).toISOString();
  if (isDay(text) || (TIME.test(text) && !Number.isNaN(Date.parse(text)))) return text;
  throw new InvalidArgumentError(
    "expected a day such as 2026-11-01 (UTC), a time such as 2026-11-01T14:00:00Z, or 90m, 12h, 30d from now",
  );
}

function secondsOf(text: string): number | null {
  const [, count, unit = ""] = DURATION.exec(text) ?? [];
  if (count === undefined) return null;
  return Number(count) * (unit === "" ? 1 : SECONDS[unit as keyof typeof SECONDS]);
}
