import { DEFAULT_PAGE_LIMIT, type PageQuery } from "../schemas/page.ts";
import type { Page, PageInput } from "../../../data-path/store/types/page.ts";
import type { ApiAnswer } from "./route.ts";
import { AdminError } from "../admin-error.ts";
import { expectVersion, type IfMatch } from "../http/etag.ts";

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

/** Others may change the record in between. */
const CHANGE_ATTEMPTS = 5;

/** What the store says of a change whose record is not of the expected version any more. */
interface Conflict<Item> {
  readonly outcome: "version_conflict";
  readonly current: Item;
}

/**
 * Makes a change of a record as it was read. When others have changed it meanwhile it is made again of what is there
 * now, a few times; with `If-Match` the next look at the version refuses it. So what is merged, and what the audit log
 * says of it, are of one version.
 *
 * @param tryChange Makes the change if the record still has this version.
 * @throws AdminError 412 when `If-Match` names another version, 409 when others change it all the time.
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
