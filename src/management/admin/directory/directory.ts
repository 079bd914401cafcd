/**
 * Keys, users and groups of an organization with their spend, for sorted, filtered and counted lists. One
 * reader at a time reads Redis in small pieces, at most 10,000 of each kind. The result is reused until the
 * audit log has a newer entry, and for a few seconds at most. So a list costs a worker no more than other
 * commands.
 */
import type { KeyRecord, OrganizationRecord } from "../../../data-path/store/types/management.ts";
import type { GroupRecord, OwnerRecord, UserRecord } from "../../../data-path/store/types/owners.ts";
import type { Page, PageInput } from "../../../data-path/store/types/page.ts";
import type { Store } from "../../../data-path/store/types.ts";
import type { ApiServices } from "../api/route.ts";
import { type Figures, listGroups, listKeys, listUsers, type Listed, type Records } from "./list-owners.ts";
import { MAX_LISTED } from "../schemas/arranged.ts";
import { readFigures } from "./read-figures.ts";

const PIECE = 200;
/** Directories with fewer entries are always read again. */
const SMALL = 1_000;
/** Number of cached directories: tens of megabytes at most. */
const MAX_KEPT = 2;

export interface Directory {
  /** By Redis's clock. */
  readonly timeMs: number;
  readonly keys: readonly Listed<KeyRecord>[];
  readonly users: readonly Listed<UserRecord>[];
  readonly groups: readonly Listed<GroupRecord>[];
}

interface Kept {
  readonly newestChange: string | null;
  readonly directory: Promise<Directory>;
  /** By Redis's clock; infinite while it is read. */
  goodUntilMs: number;
}

/** Cached directories by store, with the most recently read ones. */
const KEPT = new WeakMap<Store, Map<string, Kept>>();

export async function readDirectory(
  { store, reports }: Pick<ApiServices, "store" | "reports">,
  organization: OrganizationRecord,
): Promise<Directory> {
  const { id } = organization;
  const kept = KEPT.get(store) ?? new Map<string, Kept>();
  KEPT.set(store, kept);
  const [nowMs, { items }] = await Promise.all([
    store.timeMs(),
    store.listAuditEntries(id, { limit: 1, after: null }),
  ]);
  const newestChange = items[0]?.id ?? null;
  const known = kept.get(id);
  if (known?.newestChange === newestChange && nowMs < known.goodUntilMs) return known.directory;
  const turn = { lane: "directory", caller: id };
  const directory = reports.run(turn, () => read(store, organization, nowMs));
  const entry: Kept = { newestChange, directory, goodUntilMs: Infinity };
  kept.delete(id);
  kept.set(id, entry);
  for (const oldest of [...kept.keys()].slice(0, -MAX_KEPT)) kept.delete(oldest);
  try {
    const { keys, users } = await directory;
    // A millisecond per entry, so that reading takes a small part of the time, however frequent the calls.
    const entries = keys.length + users.length;
    entry.goodUntilMs = entries < SMALL ? 0 : nowMs + entries;
  } catch (error) {
    entry.goodUntilMs = 0;
    throw error;
  }
  return directory;
}

async function read(store: Store, organization: OrganizationRecord, timeMs: number): Promise<Directory> {
  const { id } = organization;
  const everybody = { search: null, groupId: null };
  const records: Records = {
    organization,
    groups: byId(await readAll((page) => store.listGroups(id, everybody, page))),
    users: byId(await readAll((page) => store.listUsers(id, everybody, page))),
    keys: await readAll((page) => store.listKeys(id, page)),
  };
  const figures: Figures = await readFigures(store, records, timeMs);
  const keys = listKeys(records, figures);
  return { timeMs, keys, users: listUsers(records, figures), groups: listGroups(records, figures) };
}

async function readAll<Item>(readPage: (page: PageInput) => Promise<Page<Item>>): Promise<readonly Item[]> {
  const all: Item[] = [];
  let after: string | null = null;
  do {
    const { items, next }: Page<Item> = await readPage({ limit: PIECE, after });
    all.push(...items);
    after = next;
  } while (after !== null && all.length < MAX_LISTED);
  return all;
}

function byId<Item extends OwnerRecord>(items: readonly Item[]): ReadonlyMap<string, Item> {
  return new Map(items.map((item) => [item.id, item]));
}
