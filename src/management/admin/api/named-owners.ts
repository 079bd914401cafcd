/** Whose keys are, and in which group users are: of what they name what is there. What was deleted reads as none. */
import type { KeyRecord } from "../../../data-path/store/types/management.ts";
import type { GroupRecord, OwnerRecord, UserRecord } from "../../../data-path/store/types/owners.ts";
import type { Store } from "../../../data-path/store/types.ts";

export function formatReference(owner: { readonly id: string; readonly name: string } | null) {
  return owner === null ? null : { id: owner.id, name: owner.name };
}

/** What a key, or a user, names of those that are there. */
export interface NamedOwners {
  readonly user: UserRecord | null;
  /** That it names itself. */
  readonly ownGroup: GroupRecord | null;
  /** That it counts to: the user's where it names none. */
  readonly group: GroupRecord | null;
}

export type NamesOwners = Partial<Pick<KeyRecord, "userId" | "groupId">>;

/** Of these, what they name. Each user and each group is read once. */
export async function readNamedOwners(
  { getUser, getGroup }: Pick<Store, "getUser" | "getGroup">,
  organizationId: string,
  naming: readonly NamesOwners[],
): Promise<(one: NamesOwners) => NamedOwners> {
  const userIds = naming.map(({ userId }) => userId);
  const users = await readThere(userIds, (id) => getUser(organizationId, id));
  const groupIds = [...naming, ...users.values()].map(({ groupId }) => groupId);
  const groups = await readThere(groupIds, (id) => getGroup(organizationId, id));
  return ({ userId, groupId }) => {
    const user = users.get(userId ?? "") ?? null;
    const ownGroup = groups.get(groupId ?? "") ?? null;
    return { user, ownGroup, group: ownGroup ?? groups.get(user?.groupId ?? "") ?? null };
  };
}

/** Id → the record, of those that are there and were not deleted. */
async function readThere<Item extends OwnerRecord>(
  wanted: readonly (string | null | undefined)[],
  read: (id: string) => Promise<Item | null>,
): Promise<ReadonlyMap<string, Item>> {
  const ids = [...new Set(wanted)].filter((id) => id !== null && id !== undefined);
  const there = new Map<string, Item>();
  for (const record of await Promise.all(ids.map(read))) {
    if (record?.deletedAtMs === null) there.set(record.id, record);
  }
  return there;
}
