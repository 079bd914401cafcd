/** Reads whole lists of the API, page by page, up to a bound. */
import type { CallApi } from "./call-api.ts";
import type { OrganizationPageCall } from "./page.ts";
import type { KeyView } from "./views.ts";

const PAGE = "100";

interface ListPage<Item> {
  readonly data: readonly Item[];
  readonly next: string | null;
}

interface BoundedList<Item> {
  readonly items: readonly Item[];
  /** True if there are more items. */
  readonly hasMore: boolean;
}

/**
 * Reads at most `pages` pages of 100.
 * @param filter Query parameters of the list.
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

const MAX_KEY_PAGES = 10;

/** Reads the names of the organization's first thousand keys by id. */
export async function nameKeys(page: OrganizationPageCall): Promise<Map<string, string>> {
  const call = "GET /api/organizations/{organization}/keys";
  const { items } = await readList<KeyView>(page.api, call, MAX_KEY_PAGES);
  return new Map(items.map((key) => [key.id, key.name]));
}
