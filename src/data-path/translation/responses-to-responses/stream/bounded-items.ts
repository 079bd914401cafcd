import { formatJson } from "../../json/exact-json.ts";

/** Items that are finished, for the response that tells of a stream that broke off; what is too much is left out. */
const MAX_CHARACTERS = 4 * 1_048_576;

export class BoundedItems {
  readonly items: unknown[] = [];
  #characters = 0;

  add(item: unknown): void {
    this.#characters += formatJson(item ?? null).length;
    if (this.#characters <= MAX_CHARACTERS) this.items.push(item);
  }
}
