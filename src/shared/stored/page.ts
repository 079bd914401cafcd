/** Pages of long lists. */

export interface PageInput {
  /** Maximum number of items. */
  readonly limit: number;
  /** `next` of the previous page, or null for the first. */
  readonly after: string | null;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  /** Cursor of the next page; null: this is the last page. */
  readonly next: string | null;
}
