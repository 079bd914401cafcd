import { formatJson } from "../json/exact-json.ts";

/** A comment, which event readers ignore. It shows the client and proxies in between that the stream is alive. */
export const KEEP_ALIVE = ": in progress\n\n";
/**
 * The same for the messages protocol. @see https://platform.claude.com/docs/en/build-with-claude/streaming#ping-events
 */
export const PING = formatEvent("ping", { type: "ping" });

/**
 * Formats one server-sent event.
 * @param type Value of the `event` field, or null for an event without a name (such as OpenAI's chunks).
 * @param json Value to write as JSON. JSON text has no line ends, so one data line is enough.
 */
export function formatEvent(type: string | null, json: unknown): string {
  const data = `data: ${formatJson(json)}\n\n`;
  return type === null ? data : `event: ${type}\n${data}`;
}
