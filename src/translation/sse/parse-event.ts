/** An event of a stream that passes through, as its reader sees it. */
export interface ParsedEvent {
  /** Value of its `event` field, or null. */
  readonly name: string | null;
  /** Its data lines, joined by `\n`; null when it has none. */
  readonly data: string | null;
}

/** Reads one event's lines. @param text With or without the blank line at its end. */
export function parseEvent(text: string): ParsedEvent {
  let name: string | null = null;
  let data: string | null = null;
  for (const line of (text.startsWith("\uFEFF") ? text.slice(1) : text).split(/\r\n|\r|\n/)) {
    if (line.startsWith("data:")) {
      const value = line.slice(line[5] === " " ? 6 : 5);
      data = data === null ? value : `${data}\n${value}`;
    } else if (line.startsWith("event:")) {
      name = line.slice(line[6] === " " ? 7 : 6);
    }
  }
  return { name, data };
}
