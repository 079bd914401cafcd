import { DEFAULT_PAGE_LIMIT, type PageQuery } from "../schemas/page.ts";
import type { Page, PageInput } from "../../../data-path/store/types/page.ts";
import type { ApiAnswer } from "./route.ts";

export function parsePage(query: PageQuery): PageInput {
  return { limit: query.limit ?? DEFAULT_PAGE_LIMIT, after: query.after ?? null };
}

/** The answer of every list. */
export function answerList<Item>(page: Page<Item>, format: (item: Item) => object): ApiAnswer {
  return answerFormatted({ items: page.items.map(format), next: page.next });
}

/** The same of items that are in the API's form already. */
export function answerFormatted({ items, next }: Page<object>): ApiAnswer {
  return { status: 200, body: { data: items, has_more: next !== null, next } };
}
