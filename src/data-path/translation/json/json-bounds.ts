/**
 * Bounds on the content of a JSON text. The cost of parsing depends on the number of values, not on bytes: 33 MB of
 * empty objects block a worker for seconds and take a gigabyte, 33 MB of one string take 20 ms. `findMembers` counts
 * values before `JSON.parse` sees the text.
 */

/** Deeper JSON is rejected; no real request comes near it. */
export const MAX_NESTING = 512;

export interface JsonBounds {
  /** Maximum number of objects, arrays, strings and member names. Each takes memory of its own. */
  readonly nodes: number;
  /** Maximum number of commas, which bounds the number of numbers. Much larger than `nodes`. */
  readonly commas: number;
}

/** For a client's body: about 30,000 messages, or two million token ids. */
export const REQUEST_BOUNDS: JsonBounds = { nodes: 250_000, commas: 2_000_000 };

/** For an upstream's answer: 20 alternatives to each of 7,000 tokens are a million nodes. */
export const ANSWER_BOUNDS: JsonBounds = { nodes: 1_000_000, commas: 4_000_000 };

/** For a text that is not parsed. */
export const NESTING_ONLY: JsonBounds = { nodes: Infinity, commas: Infinity };

/** Maximum number of integers beyond 2^53. Each must be found, marked and converted to a bigint. */
export const MAX_LONG_INTEGERS = 100_000;

/** A text exceeds a bound. */
export class JsonBoundError extends Error {
  override readonly name = "JsonBoundError";
  /** Predicate of a sentence: "is nested deeper than 512 levels". */
  readonly excess: string;

  constructor(excess: string) {
    super(`JSON that ${excess}`);
    this.excess = excess;
  }
}

/** Counts the content of one text. */
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

/** @param noun Plural noun. */
export function tooMany(bound: number, noun: string): JsonBoundError {
  return new JsonBoundError(`has more than ${bound.toLocaleString("en-US")} ${noun}`);
}
