/**
 * Foreign text, as a server, a file or a caller has written it, where a person reads it: at a terminal and in logs. It may
 * hold what a terminal obeys (C0 and C1 controls), what begins another line, and marks of direction, which have a line read
 * otherwise than it is.
 * @see https://www.unicode.org/reports/tr9/#Directional_Formatting_Characters
 */
const HIDDEN = String.raw`\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069`;
const ANY_HIDDEN = new RegExp(`[${HIDDEN}]`, "gu");
/** The colours that a screen paints with, line breaks and tabs are the program's own. */
const HIDDEN_ON_SCREEN = new RegExp(String.raw`(\u001b\[(?:[012]|3[123])m|\r?\n|\t)|[${HIDDEN}]`, "gu");
/** What JSON escapes in its texts already is not among it: a line break in JSON is between its values. */
const HIDDEN_IN_JSON = /[\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;
const REPLACEMENT = "\ufffd";

/** A piece of text within a line, without characters that a terminal would obey. */
export function cleanText(text: string): string {
  return text.replace(ANY_HIDDEN, REPLACEMENT);
}

/** The same of several lines, whose breaks are ours. */
export function cleanLines(text: string): string {
  return text.split("\n").map(cleanText).join("\n");
}

/** The same of what is painted already: the last lock, behind `cleanText` of each foreign piece. */
export function cleanScreen(text: string): string {
  return text.replace(HIDDEN_ON_SCREEN, (_match, own: string | undefined) => own ?? REPLACEMENT);
}

/** JSON that means the same, with escapes for what a terminal would obey. */
export function escapeHidden(json: string): string {
  return json.replace(
    HIDDEN_IN_JSON,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
