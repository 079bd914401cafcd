import { formatJson } from "../../json/exact-json.ts";

/**
 * Size limit of the finished items that are kept for the last event of an aborted stream; further items are dropped.
 */
const MAX_CHARACTERS = 4 * 1_048_576;

export class BoundedItems {
  readonly items: unknown[] = [];
  #characters = 0;

  add(item: unknown): void {
    this.#characters += formatJson(item ?? null).length;
    if (this.#characters <= MAX_CHARACTERS) this.items.push(item);
  }
}
