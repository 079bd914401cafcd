/** Long lists are read page by page. */

export interface PageInput {
  /** At most this many. */
  readonly limit: number;
  /** `next` of the page before, or null for the first. */
  readonly after: string | null;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  /** Null: there are no more. */
  readonly next: string | null;
}
