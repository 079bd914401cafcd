/** A byte-level vocabulary as GPT-2's: every byte is a token, and pairs that a text has often are tokens as well. */

export interface BytePairs {
  /** By their number. */
  readonly tokens: readonly string[];
  /** "left right", the most frequent first. */
  readonly merges: readonly string[];
}

/** Where bytes that print nothing are moved to. */
const UNPRINTABLE_START = 256;

/** Words as the tokenizer cuts a text: with the space before them. */
const WORDS = / ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+/gu;

export function learnBytePairs(text: string, mergeCount: number): BytePairs {
  const letters = byteLetters();
  const words = [...countWords(text)].map(([word, count]) => ({
    pieces: [...Buffer.from(word, "utf8")].map((byte) => letters[byte]!),
    count,
  }));
  const merges: string[] = [];
  const tokens = [...letters];
  while (merges.length < mergeCount) {
    const best = findBest(words);
    if (best === null) break;
    const [left, right] = best.split(" ") as [string, string];
    merges.push(best);
    tokens.push(left + right);
    for (const word of words) word.pieces = merge(word.pieces, left, right);
  }
  return { tokens, merges };
}

function countWords(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const [word] of text.matchAll(WORDS)) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

function findBest(words: readonly { readonly pieces: readonly string[]; readonly count: number }[]) {
  const counts = new Map<string, number>();
  let best: string | null = null;
  for (const { pieces, count } of words) {
    for (let index = 1; index < pieces.length; index += 1) {
      const pair = `${pieces[index - 1]!} ${pieces[index]!}`;
      const total = (counts.get(pair) ?? 0) + count;
      counts.set(pair, total);
      if (best === null || total > (counts.get(best) ?? 0)) best = pair;
    }
  }
  return best;
}

function merge(pieces: readonly string[], left: string, right: string): string[] {
  const merged: string[] = [];
  for (let index = 0; index < pieces.length; index += 1) {
    const isPair = pieces[index] === left && pieces[index + 1] === right;
    merged.push(isPair ? left + right : pieces[index]!);
    if (isPair) index += 1;
  }
  return merged;
}

/** The letter that stands for each byte: its own where it prints something. */
function byteLetters(): string[] {
  let moved = 0;
  return Array.from({ length: 256 }, (_, byte) => {
    const prints = (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte !== 0xad);
    if (prints) return String.fromCharCode(byte);
    moved += 1;
    return String.fromCharCode(UNPRINTABLE_START + moved - 1);
  });
}
