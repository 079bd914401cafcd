/**
 * A text of others for a message: one that is longer than it may be is cut, not in the middle of a character, and ends
 * with "…". @param maximum In UTF-16 units, "…" among them; receivers count no more.
 */
export function shorten(text: string, maximum: number): string {
  if (text.length <= maximum) return text;
  const cut = text.slice(0, maximum - 1);
  return `${/[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut}…`;
}
