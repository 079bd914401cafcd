/**
 * Keys, users and groups of an organization, and all organizations, with their spend, for sorted, filtered and counted lists. One
 * reader at a time reads Redis in small pieces, at most 10,000 of each kind. The result is reused until the
 * audit log has a newer entry, and for a few seconds at most. So a list costs a worker no more than other
 * commands.
 */
import type { KeyRecord, OrganizationRecord } from "../../../shared/stored/management.ts";
import type { GroupRecord, OwnerRecord, UserRecord } from "../../../shared/stored/owners.ts";
import { mapTogether } from "../../../shared/event-loop/map-together.ts";
import type { Page, PageInput } from "../../../shared/stored/page.ts";
import type { Store } from "../../../shared/stored/store.ts";
import type { ApiServices } from "../api/route.ts";
import { readOrganizationSpend } from "../api/format-organization.ts";
import {
  type Figures,
  listGroups,
  listKeys,
  listOrganization,
  listUsers,
  type Listed,
  type Records,
} from "./list-owners.ts";
import { MAX_LISTED } from "../schemas/arranged.ts";
import { readFigures } from "./read-figures.ts";

const PIECE = 200;
/** Directories with fewer entries are always read again. */
const SMALL = 1_000;
/** Number of cached directories: tens of megabytes at most. */
const MAX_CACHED = 2;

export interface Directory {
  /** By Redis's clock. */
  readonly timeMs: number;
  readonly keys: readonly Listed<KeyRecord>[];
  readonly users: readonly Listed<UserRecord>[];
  readonly groups: readonly Listed<GroupRecord>[];
}

interface CacheEntry {
  readonly newestChange: string | null;
  readonly rows: Promise<unknown>;
  /** By Redis's clock; infinite while it is read. */
  goodUntilMs: number;
}

/** Cached rows by store, with the most recently read ones. */
const CACHES = new WeakMap<Store, Map<string, CacheEntry>>();

interface Reading<Rows> {
  readonly newestChange: string | null;
  readonly nowMs: number;
  readonly read: () => Promise<Rows>;
  readonly count: (rows: Rows) => number;
}

async function readCached<Rows>(
  { store, reports }: Pick<ApiServices, "store" | "reports">,
  id: string,
  { newestChange, nowMs, read, count }: Reading<Rows>,
): Promise<Rows> {
  const cache = CACHES.get(store) ?? new Map<string, CacheEntry>();
  CACHES.set(store, cache);
  const known = cache.get(id);
  if (known?.newestChange === newestChange && nowMs < known.goodUntilMs) return known.rows as Promise<Rows>;
  const rows = reports.run({ lane: "directory", caller: id }, read);
  const entry: CacheEntry = { newestChange, rows, goodUntilMs: Infinity };
  cache.delete(id);
  cache.set(id, entry);
  for (const oldest of [...cache.keys()].slice(0, -MAX_CACHED)) cache.delete(oldest);
  try {
    // A millisecond per entry, so that reading takes a small part of the time, however frequent the calls.
    const entries = count(await rows);
    entry.goodUntilMs = entries < SMALL ? 0 : nowMs + entries;
  } catch (error) {
    entry.goodUntilMs = 0;
    throw error;
  }
  return rows;
}

export async function readDirectory(
  services: Pick<ApiServices, "store" | "reports">,
  organization: OrganizationRecord,
): Promise<Directory> {
  const { store } = services;
  const { id } = organization;
  const [nowMs, { items }] = await Promise.all([
    store.timeMs(),
    store.listAuditEntries(id, { limit: 1, after: null }),
  ]);
  return readCached(services, id, {
    newestChange: items[0]?.id ?? null,
    nowMs,
    read: () => read(store, organization, nowMs),
    count: ({ keys, users }) => keys.length + users.length,
  });
}

/** Organizations whose spend is read together. */
const TOGETHER = 20;

/** Reads all organizations, for the operator. */
export async function readOrganizations(
  services: Pick<ApiServices, "store" | "reports">,
): Promise<readonly Listed<OrganizationRecord>[]> {
  const { store } = services;
  const nowMs = await store.timeMs();
  return readCached(services, "organizations", {
    newestChange: null,
    nowMs,
    read: async () => {
      const records = await readAll((page) => store.listOrganizations(page));
      return mapTogether(records, TOGETHER, async (record) => {
        const { organizationMicrocents: spentMicrocents, limits } = await readOrganizationSpend(
          { store },
          record,
        );
        return listOrganization({ record, spentMicrocents, limits }, nowMs);
      });
    },
    count: (rows) => rows.length,
  });
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
