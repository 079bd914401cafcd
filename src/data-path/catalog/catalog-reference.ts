import type { Catalog } from "./catalog.ts";

/**
 * The catalog in force. Replaced as a whole by one assignment, so that a reader sees the old one or the new one and
 * never a mixture; a request reads it once and keeps what it got.
 */
export class CatalogReference {
  #current: Catalog;

  constructor(catalog: Catalog) {
    this.#current = catalog;
  }

  get current(): Catalog {
    return this.#current;
  }

  replace(catalog: Catalog): void {
    this.#current = catalog;
  }
}
