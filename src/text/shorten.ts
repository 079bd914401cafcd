/** A text of others for a message; one that is longer than it may be ends with "…" behind so many characters. */
export function shorten(text: string, maximum: number): string {
  return text.length > maximum ? `${text.slice(0, maximum)}…` : text;
}
