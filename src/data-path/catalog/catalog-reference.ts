import type { Catalog } from "./catalog.ts";

/**
 * The current catalog. A reload replaces it by one assignment, so that a reader sees the old or the new catalog, never
 * a mixture; a request reads it once and keeps it.
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
