/** Longer pieces would make byte-pair merging, whose time grows with the square of a word's length, take minutes. */
const MAX_PIECE_CHARACTERS = 512;
const WHITESPACE = /\s/;

/**
 * Cuts a text into pieces that a tokenizer takes in time that grows with the text, not with its square. It cuts where a
 * word begins, which changes the count hardly at all, and through the middle only where there are no words.
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
    // A word's token has the space before it, so the space begins the next piece.
    if (WHITESPACE.test(text.charAt(end)) && !WHITESPACE.test(text.charAt(end - 1))) return end;
  }
  return isLowSurrogate(text.charCodeAt(furthest)) ? furthest - 1 : furthest;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
