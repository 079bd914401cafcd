import { ShortLivedMap } from "./short-lived-map.ts";

/** Counts by name. Names whose count is 0 are removed. */
export class Tally {
  readonly #counts = new ShortLivedMap<string, number>();

  of(name: string): number {
    return this.#counts.get(name) ?? 0;
  }

  add(name: string, difference: number): void {
    const count = this.of(name) + difference;
    if (count > 0) this.#counts.set(name, count);
    else this.#counts.delete(name);
  }
}
