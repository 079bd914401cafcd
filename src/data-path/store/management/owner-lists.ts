/** Reads users and groups: one by id, a page of the list, or search results. */
import type { StoreContext } from "../context.ts";
import { isId } from "../ids.ts";
import { ownerKey, ownerListKey, ownerTextsKey, ownerUsersKey } from "../redis/keys.ts";
import type { OwnerFilter, OwnerRecord } from "../../../shared/stored/owners.ts";
import type { Page, PageInput } from "../../../shared/stored/page.ts";
import { foldName } from "./organization-names.ts";
import { readIds } from "./organizations.ts";
import { readFields } from "./records.ts";
import type { Owners } from "./users-and-groups.ts";
import {
  beginEntry,
  formatSearchCursor,
  idOfEntry,
  isFoundAt,
  isInRange,
  parseSearchCursor,
} from "./owner-search.ts";

/** Batches that one search examines: 2,000 entries. If nearly all are in other groups, it returns a next page. */
const SEARCHED_BATCHES = 20;
const SEARCH_BATCH = 100;

/** Reads one owner; also deleted ones while their figures are kept. */
export async function getOwner<Settings, Item extends Settings & OwnerRecord>(
  owners: Owners<Settings, Item>,
  context: StoreContext,
  organizationId: string,
  id: string,
): Promise<Item | null> {
  const { kind } = owners;
  if (!isId("org", organizationId) || !isId(kind, id)) return null;
  const fields = await readFields(context, ownerKey(organizationId, kind, id));
  return fields === null ? null : owners.parse(organizationId, id, fields);
}

/** @see OwnerStore.listUsers */
export async function listOwners<Settings, Item extends Settings & OwnerRecord>(
  owners: Owners<Settings, Item>,
  context: StoreContext,
  organizationId: string,
  filter: OwnerFilter,
  page: PageInput,
): Promise<Page<Item>> {
  const { search, groupId } = filter;
  if (!isId("org", organizationId) || (groupId !== null && !isId("group", groupId))) {
    return { items: [], next: null };
  }
  if (search !== null) return findOwners(owners, context, organizationId, { ...filter, search }, page);
  const list =
    groupId === null
      ? ownerListKey(organizationId, owners.kind)
      : ownerUsersKey(organizationId, "group", groupId);
  const { ids, next } = await readIds(context, list, page);
  const records = await readOwners(owners, context, organizationId, ids);
  const items = records.filter((record) => record !== null);
  return { items: items.filter((record) => isListed(owners, record, filter)), next };
}

type Search = OwnerFilter & { readonly search: string };

/**
 * Finds owners by id, or whose name or email address has the text at the start of a word, ignoring case.
 * Sorted by the text from that word on.
 */
async function findOwners<Settings, Item extends Settings & OwnerRecord>(
  owners: Owners<Settings, Item>,
  context: StoreContext,
  organizationId: string,
  filter: Search,
  { limit, after }: PageInput,
): Promise<Page<Item>> {
  if (isId(owners.kind, filter.search)) return findById(owners, context, organizationId, filter, after);
  const folded = foldName(filter.search);
  const key = ownerTextsKey(organizationId, owners.kind);
  const found: Item[] = [];
  let last = after === null ? null : parseSearchCursor(after);
  let lastFound = last;
  if (after !== null && last === null) return { items: [], next: null };
  for (let batch = 0; batch < SEARCHED_BATCHES; batch += 1) {
    const start = last === null ? `[${beginEntry(folded)}` : `(${last}`;
    // If no entry is filtered out, the first batch is the page.
    const size = batch === 0 ? limit + 1 : SEARCH_BATCH;
    const read = await context.client.zrangebylex(key, start, "+", "LIMIT", "0", String(size));
    const entries = read.filter((entry) => isInRange(entry, folded));
    const records = await readOwners(owners, context, organizationId, entries.map(idOfEntry));
    for (const [position, entry] of entries.entries()) {
      const record = records[position] ?? null;
      if (record === null || !isListed(owners, record, filter)) continue;
      if (!isFoundAt(entry, record.id, owners.textsOf(record), folded)) continue;
      // One more than requested: there is a next page.
      if (found.length === limit) return { items: found, next: nextOf(lastFound) };
      found.push(record);
      lastFound = entry;
    }
    last = entries.at(-1) ?? last;
    if (entries.length < size) return { items: found, next: null };
  }
  return { items: found, next: nextOf(last) };
}

async function findById<Settings, Item extends Settings & OwnerRecord>(
  owners: Owners<Settings, Item>,
  context: StoreContext,
  organizationId: string,
  filter: Search,
  after: string | null,
): Promise<Page<Item>> {
  const record = await getOwner(owners, context, organizationId, filter.search);
  const isFound = after === null && record !== null && isListed(owners, record, filter);
  return { items: isFound ? [record] : [], next: null };
}

function readOwners<Settings, Item extends Settings & OwnerRecord>(
  owners: Owners<Settings, Item>,
  context: StoreContext,
  organizationId: string,
  ids: readonly string[],
): Promise<(Item | null)[]> {
  return Promise.all(ids.map((id) => getOwner(owners, context, organizationId, id)));
}

function isListed<Settings, Item extends Settings & OwnerRecord>(
  owners: Owners<Settings, Item>,
  record: Item,
  { groupId }: OwnerFilter,
): boolean {
  return record.deletedAtMs === null && (groupId === null || owners.groupOf(record) === groupId);
}

function nextOf(entry: string | null): string | null {
  return entry === null ? null : formatSearchCursor(entry);
}
