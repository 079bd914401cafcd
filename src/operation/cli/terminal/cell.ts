/**
 * Display width of text in a terminal, and shortening to it.
 * `string-width` would also handle characters composed of several (a family, a flag). Here these count as too
 * wide, so a line may be cut early but never late; names of keys and models rarely contain any.
 */

/** Characters two columns wide: East Asian wide and fullwidth characters (UAX 11), and emoji. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;
/** Characters that combine with the previous one, or are invisible. */
const ZERO_WIDTH = /[\p{Mn}\p{Me}\p{Cf}]/u;
const CUT_MARK = "…";

/** Returns the width in columns. */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += widthOfCharacter(character);
  return width;
}

/** Shortens to at most this many columns, ending with `…`. */
export function cutText(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let fitting = "";
  let used = 1;
  for (const character of text) {
    used += widthOfCharacter(character);
    if (used > width) break;
    fitting += character;
  }
  return fitting + CUT_MARK;
}

/** Wraps into lines of at most this many columns, between words; a longer word is cut. */
export function wrapText(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const line = lines.at(-1);
    const longer = `${line} ${word}`;
    if (line !== undefined && widthOf(longer) <= width) lines[lines.length - 1] = longer;
    else lines.push(cutText(word, width));
  }
  return lines;
}

function widthOfCharacter(character: string): number {
  if (ZERO_WIDTH.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}
