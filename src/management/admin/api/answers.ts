import { DEFAULT_PAGE_LIMIT, type PageQuery } from "../schemas/page.ts";
import type { Page, PageInput } from "../../../shared/stored/page.ts";
import type { Arranged } from "../directory/arrange.ts";
import type { ApiAnswer } from "./route.ts";
import { AdminError } from "../admin-error.ts";
import { expectVersion, type IfMatch } from "../http/etag.ts";

export function parsePage(query: PageQuery): PageInput {
  return { limit: query.limit ?? DEFAULT_PAGE_LIMIT, after: query.after ?? null };
}

/** Formats the response of every list. */
export function answerList<Item>(page: Page<Item>, format: (item: Item) => object): ApiAnswer {
  return answerFormatted({ items: page.items.map(format), next: page.next });
}

/** Same for items that are already in the API's form. */
export function answerFormatted({ items, next }: Page<object>): ApiAnswer {
  return { status: 200, body: { data: items, has_more: next !== null, next } };
}

/** The answer of a list that was sorted. */
export function answerArranged<Row>(
  { items, next, total, totals }: Arranged<Row>,
  format: (row: Row) => object,
): ApiAnswer {
  const { body } = answerFormatted({ items: items.map(format), next });
  const shown = totals.map(({ currency, count, spentMicrocents }) => ({
    currency,
    count,
    spent_microcents: spentMicrocents,
  }));
  return { status: 200, body: { ...(body as object), total_count: total, totals: shown } };
}

/** Attempts if others change the record in between. */
const CHANGE_ATTEMPTS = 5;

/** Result of the store if the record no longer has the expected version. */
interface Conflict<Item> {
  readonly outcome: "version_conflict";
  readonly current: Item;
}

/**
 * Changes a record as it was read. If others changed it meanwhile, retries on the new version, a few times;
 * with `If-Match` the next version check rejects it. So merged fields and the audit log refer to one version.
 *
 * @param tryChange Makes the change if the record still has this version.
 * @throws AdminError 412 if `If-Match` names another version, 409 if others keep changing it.
 */
export async function changeCurrent<Item extends { readonly version: number }, Answer extends object>(
  first: Item,
  ifMatch: IfMatch | null,
  tryChange: (current: Item, expectedVersion: number) => Promise<Answer | Conflict<Item>>,
): Promise<Answer> {
  let current = first;
  for (let attempt = 1; attempt <= CHANGE_ATTEMPTS; attempt += 1) {
    const expectedVersion = expectVersion(ifMatch, current.version) ?? current.version;
    const result = await tryChange(current, expectedVersion);
    if (!isConflict(result)) return result;
    current = result.current;
  }
  throw new AdminError("change_conflict");
}

function isConflict<Item>(result: object): result is Conflict<Item> {
  return "outcome" in result && result.outcome === "version_conflict";
}
