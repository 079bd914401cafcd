/** Longer names are only compared in part: the cost grows with the product of both lengths. */
const MAX_COMPARED_CHARACTERS = 100;

/**
 * Returns how many single-character insertions, deletions, substitutions and swaps of neighbors turn one text
 * into the other (optimal string alignment, the restricted Damerau-Levenshtein distance).
 */
export function editDistance(from: string, to: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i += 1) {
    const current = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const same = from[i - 1] === to[j - 1];
      let best = Math.min(at(previous, j) + 1, at(current, j - 1) + 1, at(previous, j - 1) + (same ? 0 : 1));
      if (i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]) {
        best = Math.min(best, at(beforePrevious, j - 2) + 1);
      }
      current.push(best);
    }
    beforePrevious = previous;
    previous = current;
  }
  return at(previous, to.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}

interface Candidate {
  readonly candidate: string;
  readonly distance: number;
}

/**
 * Returns the candidates that may have been meant by `name`, nearest first, at most `count`. Ignores case.
 * Omits candidates that differ in more than about a third of their characters.
 */
export function findNearest(name: string, candidates: Iterable<string>, count = 1): string[] {
  return rankNearest(name, candidates)
    .slice(0, count)
    .map(({ candidate }) => candidate);
}

/**
 * Returns "; did you mean `upstream_model`?": the nearest candidate, or several equally near ones; empty if
 * none is near.
 */
export function formatSuggestion(name: string, candidates: Iterable<string>): string {
  const ranked = rankNearest(name, candidates);
  const nearest = ranked.filter(({ distance }) => distance === ranked[0]?.distance).slice(0, 3);
  if (nearest.length === 0) return "";
  const quoted = nearest.map(({ candidate }) => `\`${candidate}\``);
  return `; did you mean ${quoted.length === 1 ? quoted[0] : `${quoted.slice(0, -1).join(", ")} or ${quoted.at(-1)}`}?`;
}

function rankNearest(name: string, candidates: Iterable<string>): Candidate[] {
  const wanted = name.slice(0, MAX_COMPARED_CHARACTERS).toLowerCase();
  const letters = new LetterCount(wanted);
  const near: Candidate[] = [];
  for (const candidate of candidates) {
    const known = candidate.slice(0, MAX_COMPARED_CHARACTERS).toLowerCase();
    const allowed = Math.max(2, Math.floor(Math.max(wanted.length, known.length) / 3));
    if (Math.abs(wanted.length - known.length) > allowed) continue;
    if (letters.leastDistance(known) > allowed) continue;
    const distance = editDistance(wanted, known);
    if (distance <= allowed && distance < known.length) near.push({ candidate, distance });
  }
  return near.sort((a, b) => a.distance - b.distance || (a.candidate < b.candidate ? -1 : 1));
}

const LETTERS = 128;

/**
 * Count of each letter in a text. Quickly rules out most texts as far away: for an unknown model, suggestions
 * are searched among thousands of names while all other requests wait.
 */
class LetterCount {
  readonly #counts = new Int16Array(LETTERS);
  readonly #surplus = new Int16Array(LETTERS);

  constructor(text: string) {
    for (let index = 0; index < text.length; index += 1) {
      addAt(this.#counts, text.charCodeAt(index) % LETTERS, 1);
    }
  }

  /** Returns a lower bound of the edit distance: each edit adds, removes or replaces at most one letter. */
  leastDistance(other: string): number {
    this.#surplus.set(this.#counts);
    for (let index = 0; index < other.length; index += 1) {
      addAt(this.#surplus, other.charCodeAt(index) % LETTERS, -1);
    }
    let missing = 0;
    let extra = 0;
    for (const surplus of this.#surplus) {
      if (surplus > 0) missing += surplus;
      else extra -= surplus;
    }
    return Math.max(missing, extra);
  }
}

function addAt(counts: Int16Array, index: number, difference: number): void {
  counts[index] = (counts[index] ?? 0) + difference;
}
