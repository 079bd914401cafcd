import { ERROR_MEMBER } from "./read-field.ts";

/** A parsed event of a stream that passes through. */
export interface ParsedEvent {
  /** Value of the `event` field, or null. */
  readonly name: string | null;
  /** Data lines joined by `\n`; null if there are none. */
  readonly data: string | null;
}

/**
 * Parses one event's lines. A field `error` (llama.cpp) becomes an event of that name, and a line that is a JSON
 * object with an error becomes data, as in `readField`.
 * @param text With or without the final blank line.
 */
export function parseEvent(text: string): ParsedEvent {
  let name: string | null = null;
  let data: string | null = null;
  for (const line of (text.startsWith("\uFEFF") ? text.slice(1) : text).split(/\r\n|\r|\n/)) {
    if (line.startsWith("data:")) {
      const value = line.slice(line[5] === " " ? 6 : 5);
      data = data === null ? value : `${data}\n${value}`;
    } else if (line.startsWith("event:")) {
      name = line.slice(line[6] === " " ? 7 : 6);
    } else if (line.startsWith("error:")) {
      return { name: "error", data: line.slice(line[6] === " " ? 7 : 6) };
    } else if (line.startsWith("{") && line.includes(ERROR_MEMBER)) {
      data = line;
    }
  }
  return { name, data };
}
