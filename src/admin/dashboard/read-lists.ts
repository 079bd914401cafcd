/** Whole lists of the API, page by page, up to a bound. */
import type { CallApi } from "./call-api.ts";

const PAGE = "100";

interface ListPage<Item> {
  readonly data: readonly Item[];
  readonly next: string | null;
}

export interface BoundedList<Item> {
  readonly items: readonly Item[];
  /** There are more than were read. */
  readonly hasMore: boolean;
}

/**
 * At most `pages` pages of 100.
 * @param filter What of the list, and with what.
 */
export async function readList<Item>(
  api: CallApi,
  call: string,
  pages: number,
  filter: Readonly<Record<string, string>> = {},
): Promise<BoundedList<Item>> {
  const items: Item[] = [];
  let after: string | null = null;
  for (let page = 0; page < pages; page += 1) {
    const query: Record<string, string> = {
      ...filter,
      limit: PAGE,
      ...(after === null ? {} : { after }),
    };
    const { body } = await api(call, { query });
    const { data, next } = body as ListPage<Item>;
    items.push(...data);
    after = next;
    if (next === null) break;
  }
  return { items, hasMore: after !== null };
}
