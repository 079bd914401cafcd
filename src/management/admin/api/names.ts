/** Names for ids: user and group of a key, which must exist, and those of requests and usage, which may be deleted. */
import { mapTogether } from "../../../shared/event-loop/map-together.ts";
import type { KeyRecord } from "../../../shared/stored/management.ts";
import type { GroupRecord, OwnerRecord, UserRecord } from "../../../shared/stored/owners.ts";
import type { Store } from "../../../shared/stored/store.ts";
import { listOwnerIds, parseOwnerIds } from "../../../shared/stored/owner-ids.ts";
import { isOnlyOwn, type Principal } from "../principal.ts";
import type { UsageRow } from "../../../shared/stored/reporting.ts";

export function formatReference(owner: { readonly id: string; readonly name: string } | null) {
  return owner === null ? null : { id: owner.id, name: owner.name };
}

/** Existing owners that a key or user names. */
export interface NamedOwners {
  readonly user: UserRecord | null;
  /** Group that it names itself. */
  readonly ownGroup: GroupRecord | null;
  /** Group that it counts for: the user's if it names none. */
  readonly group: GroupRecord | null;
}

type NamesOwners = Partial<Pick<KeyRecord, "userId" | "groupId">>;

/** Reads the owners of these records, each only once. */
export async function readNamedOwners(
  { getUser, getGroup }: Pick<Store, "getUser" | "getGroup">,
  organizationId: string,
  naming: readonly NamesOwners[],
): Promise<(one: NamesOwners) => NamedOwners> {
  const userIds = naming.map(({ userId }) => userId);
  const users = await readExisting(userIds, (id) => getUser(organizationId, id));
  const groupIds = [...naming, ...users.values()].map(({ groupId }) => groupId);
  const groups = await readExisting(groupIds, (id) => getGroup(organizationId, id));
  return ({ userId, groupId }) => {
    const user = users.get(userId ?? "") ?? null;
    const ownGroup = groups.get(groupId ?? "") ?? null;
    return { user, ownGroup, group: ownGroup ?? groups.get(user?.groupId ?? "") ?? null };
  };
}

/** Reads records by id, without missing and deleted ones. */
async function readExisting<Item extends OwnerRecord>(
  wanted: readonly (string | null | undefined)[],
  read: (id: string) => Promise<Item | null>,
): Promise<ReadonlyMap<string, Item>> {
  const ids = [...new Set(wanted)].filter((id) => id !== null && id !== undefined);
  const existing = new Map<string, Item>();
  for (const record of await Promise.all(ids.map(read))) {
    if (record?.deletedAtMs === null) existing.set(record.id, record);
  }
  return existing;
}

/** Names per read: an organization can have thousands of keys. */
const READ_TOGETHER = 500;

/** Reads names of keys by id, each once, including deleted ones while their figures are kept. */
export async function readKeyNames(
  store: Pick<Store, "getKey">,
  organizationId: string,
  keyIds: readonly (string | null)[],
): Promise<ReadonlyMap<string, string>> {
  const ids = [...new Set(keyIds)].filter((id) => id !== null);
  const records = await mapTogether(ids, READ_TOGETHER, (keyId) => store.getKey({ organizationId, keyId }));
  return new Map(records.filter((record) => record !== null).map(({ id, name }) => [id, name]));
}

export type NamesStore = Pick<Store, "getKey" | "readOwnerNames">;

type Filters = Readonly<Partial<Record<"key_id" | "user_id" | "group_id", string | undefined>>>;

/**
 * Reads the names for ids in a report's filters. None for people who see only their own: they could ask for others'
 * names.
 */
export async function readFilterNames(
  store: NamesStore,
  organizationId: string,
  { key_id: keyId, user_id: userId, group_id: groupId }: Filters,
  principal: Principal,
): Promise<Readonly<Record<string, string>>> {
  if (isOnlyOwn(principal)) return {};
  const ownerIds = [userId, groupId].filter((id) => id !== undefined);
  const [keys, owners] = await Promise.all([
    readKeyNames(store, organizationId, [keyId ?? null]),
    store.readOwnerNames(organizationId, ownerIds),
  ]);
  return Object.fromEntries([...keys, ...owners]);
}

type Parts = Pick<UsageRow, "keyId" | "owners">;

/** Names of owners; null: none, or its figures have expired. */
export interface UsageNames {
  readonly keyName: string | null;
  readonly userName: string | null;
  readonly groupName: string | null;
}

/** Reads the names for requests or rows, each once, including deleted ones while their figures are kept. */
export async function readUsageNames(
  store: NamesStore,
  organizationId: string,
  rows: readonly Parts[],
): Promise<(row: Parts) => UsageNames> {
  const keyIds = rows.map(({ keyId }) => keyId);
  const ownerIds = listOwnerIds(rows.map(({ owners }) => parseOwnerIds(owners)));
  const [keyNames, ownerNames] = await Promise.all([
    readKeyNames(store, organizationId, keyIds),
    store.readOwnerNames(organizationId, ownerIds),
  ]);
  return ({ keyId, owners }) => {
    const { userId, groupId } = parseOwnerIds(owners);
    return {
      keyName: keyNames.get(keyId ?? "") ?? null,
      userName: ownerNames.get(userId ?? "") ?? null,
      groupName: ownerNames.get(groupId ?? "") ?? null,
    };
  };
}
