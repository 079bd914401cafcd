/**
 * A piece of text in a line of a terminal: how wide it is there, and how it is cut.
 *
 * `string-width` would also know of characters that are made of several (a family, a flag), which are counted too wide
 * here, so that a line is cut early and never late. Names of keys and models seldom have any.
 */

/** What a terminal shows over two columns: East Asian wide and fullwidth characters (UAX 11), and emoji. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;
/** What it shows on the character before, or not at all. */
const ZERO_WIDTH = /[\p{Mn}\p{Me}\p{Cf}]/u;
const CUT_MARK = "…";

/** In columns of a terminal. */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += widthOfCharacter(character);
  return width;
}

/** At most so many columns wide, with `…` for what is cut off. */
export function cutText(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let kept = "";
  let used = 1;
  for (const character of text) {
    used += widthOfCharacter(character);
    if (used > width) break;
    kept += character;
  }
  return kept + CUT_MARK;
}

/** Lines of at most so many columns, broken between words; a word that is longer by itself is cut. */
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
