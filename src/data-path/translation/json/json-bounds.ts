/**
 * What a JSON text may consist of. Parsing takes time and memory by its values and not by its bytes: 33 MB of empty
 * objects stop a worker for seconds and take a gigabyte, 33 MB of one string take 20 ms. So both are counted before
 * `JSON.parse` sees a text, while its nesting is.
 */

/** Deeper JSON is refused: no real request comes near it. */
export const MAX_NESTING = 512;

export interface JsonBounds {
  /** Objects, lists, strings and names of members: what takes memory of its own. */
  readonly nodes: number;
  /** Commas: what numbers come to, of which there may be many more. */
  readonly commas: number;
}

/** What a client's body may have: some 30,000 messages, or two million token ids. */
export const REQUEST_BOUNDS: JsonBounds = { nodes: 250_000, commas: 2_000_000 };

/** What an upstream may send: 20 alternatives to each of 7,000 tokens are a million. */
export const ANSWER_BOUNDS: JsonBounds = { nodes: 1_000_000, commas: 4_000_000 };

/** What a text may have that is not parsed. */
export const NESTING_ALONE: JsonBounds = { nodes: Infinity, commas: Infinity };

/** Integers beyond 2^53, each of which is searched, marked and made a bigint. */
export const MAX_LONG_INTEGERS = 100_000;

/** A text has more of something than it may have. */
export class JsonBoundError extends Error {
  override readonly name = "JsonBoundError";
  /** What it does: "is nested deeper than 512 levels". */
  readonly excess: string;

  constructor(excess: string) {
    super(`JSON that ${excess}`);
    this.excess = excess;
  }
}

/** Counts what one text consists of. */
export class JsonCount {
  readonly #bounds: JsonBounds;
  #nodes = 0;
  #commas = 0;

  constructor(bounds: JsonBounds) {
    this.#bounds = bounds;
  }

  /** @throws JsonBoundError */
  addNode(): void {
    this.#nodes += 1;
    const { nodes } = this.#bounds;
    if (this.#nodes > nodes) throw tooMany(nodes, "objects, lists, strings and names of fields");
  }

  /** @throws JsonBoundError */
  addComma(): void {
    this.#commas += 1;
    const { commas } = this.#bounds;
    if (this.#commas > commas) throw tooMany(commas, "values");
  }
}

/** `what` in the plural. */
export function tooMany(bound: number, what: string): JsonBoundError {
  return new JsonBoundError(`has more than ${bound.toLocaleString("en-US")} ${what}`);
}
