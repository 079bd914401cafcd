import { formatJson } from "../json/exact-json.ts";

/** A comment, which every reader of events passes over: by it a client, and what lies before it, sees that a stream lives. */
export const KEEP_ALIVE = ": in progress\n\n";
/** The same in the messages protocol. @see https://platform.claude.com/docs/en/build-with-claude/streaming#ping-events */
export const PING = formatEvent("ping", { type: "ping" });

/**
 * One server-sent event as text.
 * @param type Value of the `event` field, or null for an event without a name (OpenAI's chunks have none).
 * @param json A value to write as JSON; JSON text holds no line ends, so one data line is enough.
 */
export function formatEvent(type: string | null, json: unknown): string {
  const data = `data: ${formatJson(json)}\n\n`;
  return type === null ? data : `event: ${type}\n${data}`;
}
