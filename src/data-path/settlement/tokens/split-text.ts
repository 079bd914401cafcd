/**
 * Maximum length of a piece. The time of byte-pair merging grows with the square of a word's length, so that of a
 * very long word would reach minutes.
 */
const MAX_PIECE_CHARACTERS = 512;
const WHITESPACE = /\s/;

/**
 * Splits a text into pieces that a tokenizer processes in linear instead of quadratic time. Splits where a
 * word starts, which hardly changes the count, and elsewhere only if there are no words.
 */
export function* splitText(text: string): Generator<string> {
  let start = 0;
  while (start < text.length) {
    const end = findEnd(text, start);
    yield text.slice(start, end);
    start = end;
  }
}

function findEnd(text: string, start: number): number {
  const furthest = start + MAX_PIECE_CHARACTERS;
  if (furthest >= text.length) return text.length;
  for (let end = furthest; end > start; end -= 1) {
    // A word's token includes the preceding space, so the space starts the next piece.
    if (WHITESPACE.test(text.charAt(end)) && !WHITESPACE.test(text.charAt(end - 1))) return end;
  }
  return isLowSurrogate(text.charCodeAt(furthest)) ? furthest - 1 : furthest;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
