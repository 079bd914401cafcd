import { createHash } from "node:crypto";

const HASH_CHARACTERS = 8;

/**
 * Maps tool names for an upstream that limits their length: a longer name becomes its beginning, `_` and 8 hex digits
 * of its SHA-256, and is restored in the answer.
 */
export class ToolNames {
  readonly #maxCharacters: number;
  /** Upstream names of the declared tools → client names. */
  readonly #originals = new Map<string, string>();
  /** Sorted upstream names, created on demand; names with a common prefix are adjacent. */
  #sorted: readonly string[] | null = null;

  /** @param maxCharacters Null: no limit. */
  constructor(declared: readonly string[], maxCharacters: number | null) {
    this.#maxCharacters = maxCharacters ?? Number.POSITIVE_INFINITY;
    for (const name of declared) this.#originals.set(this.toUpstream(name), name);
  }

  toUpstream(name: string): string {
    if (name.length <= this.#maxCharacters) return name;
    const hash = createHash("sha256").update(name).digest("hex").slice(0, HASH_CHARACTERS);
    return `${name.slice(0, Math.max(0, this.#maxCharacters - HASH_CHARACTERS - 1))}_${hash}`;
  }

  /** Returns an undeclared name unchanged, unless it is a declared one with a server's marks around it. */
  toClient(name: string): string {
    return this.#originals.get(name) ?? this.#findMarked(name) ?? name;
  }

  /**
   * Finds the declared name in a name with a server's marks around it. gpt-oss writes `get<|channel|>commentary`
   * and `<|channel|>commentary to=functions.get`, Kimi `functions.get:0`.
   */
  #findMarked(name: string): string | undefined {
    for (const marked of name.split(/<\|[^|]*\|?>?|\s+/u)) {
      const part = marked.replace(/^to=/u, "");
      const original =
        this.#originals.get(part) ?? this.#originals.get(part.replace(/^functions\.|:\d+$/gu, ""));
      if (original !== undefined) return original;
    }
    return undefined;
  }

  isDeclared(name: string): boolean {
    return this.#originals.has(name);
  }

  /** Returns whether the name is a declared one and no prefix of another, so that it is complete. */
  isWhole(name: string): boolean {
    if (!this.#originals.has(name)) return false;
    this.#sorted ??= [...this.#originals.keys()].sort();
    return this.#sorted[findPlace(this.#sorted, name) + 1]?.startsWith(name) !== true;
  }
}

/** Finds the index of a text in a sorted list that contains it. */
function findPlace(sorted: readonly string[], text: string): number {
  let first = 0;
  let last = sorted.length - 1;
  while (first < last) {
    const middle = (first + last) >>> 1;
    if ((sorted[middle] ?? "") < text) first = middle + 1;
    else last = middle;
  }
  return first;
}
