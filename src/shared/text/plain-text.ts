/**
 * Cleaning of foreign text from servers, files or callers for terminals and logs. Such text may contain
 * terminal controls (C0 and C1), line breaks, and directional marks that change how a line is displayed.
 * @see https://www.unicode.org/reports/tr9/#Directional_Formatting_Characters
 */
const HIDDEN = String.raw`\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069`;
const ANY_HIDDEN = new RegExp(`[${HIDDEN}]`, "gu");
/** Keeps our own colors, line breaks and tabs. */
const HIDDEN_ON_SCREEN = new RegExp(String.raw`(\u001b\[(?:[012]|3[123])m|\r?\n|\t)|[${HIDDEN}]`, "gu");
/** Without characters that JSON escapes in texts anyway: a line break in JSON is between its values. */
const HIDDEN_IN_JSON = /[\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;
const REPLACEMENT = "\ufffd";

/** Cleans a piece of text within a line of everything that a terminal would interpret. */
export function cleanText(text: string): string {
  return text.replace(ANY_HIDDEN, REPLACEMENT);
}

/** Cleans several lines, keeping our line breaks. */
export function cleanLines(text: string): string {
  return text.split("\n").map(cleanText).join("\n");
}

/** Cleans formatted output, as a last protection after `cleanText` of each foreign piece. */
export function cleanScreen(text: string): string {
  return text.replace(HIDDEN_ON_SCREEN, (_match, own: string | undefined) => own ?? REPLACEMENT);
}

/** Escapes characters in JSON that a terminal would interpret, without changing its meaning. */
export function escapeHidden(json: string): string {
  return json.replace(
    HIDDEN_IN_JSON,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
