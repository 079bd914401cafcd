/**
 * One server-sent event as text.
 * @param type Value of the `event` field, or null for an event without a name (OpenAI's chunks have none).
 * @param json A value to write as JSON; JSON text holds no line ends, so one data line is enough.
 */
import { formatJson } from "../json/exact-json.ts";
export function formatEvent(type: string | null, json: unknown): string {
  const data = `data: ${formatJson(json)}\n\n`;
  return type === null ? data : `event: ${type}\n${data}`;
}
