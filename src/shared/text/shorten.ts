/**
 * Shortens a foreign text for a message, not in the middle of a character, and appends "…". @param maximum
 * UTF-16 units including "…"; receivers count in larger units at most.
 */
export function shorten(text: string, maximum: number): string {
  if (text.length <= maximum) return text;
  const cut = text.slice(0, maximum - 1);
  return `${/[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut}…`;
}
