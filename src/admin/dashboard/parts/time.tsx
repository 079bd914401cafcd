/** @jsxImportSource hono/jsx */
import { formatExactTime, formatTime } from "../../format.ts";

interface TimeProps {
  /** RFC 3339 or Unix milliseconds. */
  readonly at: string | number;
  /** With seconds. */
  readonly exact?: boolean;
}

/** "2026-11-21 14:03 UTC", which breaks between day and time only. The script adds the reader's own time on hover. */
export function Time({ at, exact = false }: TimeProps) {
  const time = new Date(at).toISOString();
  const [day, ...rest] = (exact ? formatExactTime(time) : formatTime(time)).split(" ");
  return (
    <time datetime={time}>
      <span>{day}</span> <span>{rest.join(" ")}</span>
    </time>
  );
}
