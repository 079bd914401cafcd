/** @jsxImportSource hono/jsx */
import { formatTime } from "../format.ts";

/** "2026-11-21 14:03 UTC", which breaks between day and time only. @param at RFC 3339 or Unix milliseconds. */
export function Time({ at }: { at: string | number }) {
  const time = new Date(at).toISOString();
  const [day, ...rest] = formatTime(time).split(" ");
  return (
    <time datetime={time}>
      <span>{day}</span> <span>{rest.join(" ")}</span>
    </time>
  );
}
