/** Names in Redis of a key's owners, its user and its group. */
import { listOf } from "../redis/row-layouts.ts";
import type { KeySettings } from "../../../shared/settings/key.ts";
import { ownerKey, ownerKeysKey } from "../redis/keys.ts";
import { isId } from "../ids.ts";
import { OWNER_KINDS, type OwnerKind } from "../../../shared/stored/owner-kinds.ts";
import { MissingOwnerError } from "./missing-owner.ts";

export type KeyOwners = Pick<KeySettings, "userId" | "groupId">;

interface Owner {
  readonly kind: OwnerKind;
  readonly id: string;
}

/** Lists the owners that are set, the user first. @throws MissingOwnerError for malformed ids */
function listOwners(owners: Partial<KeyOwners>): readonly Owner[] {
  const ids = { user: owners.userId ?? null, group: owners.groupId ?? null };
  return OWNER_KINDS.flatMap((kind) => {
    const id = ids[kind];
    if (id === null) return [];
    if (!isId(kind, id)) throw new MissingOwnerError(kind);
    return [{ kind, id }];
  });
}

/** Returns names of the record and the list of keys of each owner. @throws MissingOwnerError for malformed ids */
export function namesOfOwners(organizationId: string, owners: Partial<KeyOwners>): string[] {
  return listOwners(owners).flatMap(({ kind, id }) =>
    listOf["owner-keys"]({
      record: ownerKey(organizationId, kind, id),
      list: ownerKeysKey(organizationId, kind, id),
    }),
  );
}

export function listsOfOwners(organizationId: string, owners: Partial<KeyOwners>): string[] {
  return listOwners(owners).map(({ kind, id }) => ownerKeysKey(organizationId, kind, id));
}

/**
 * Returns the error for the owner that a script did not find. @param place Index of its record among the
 * names, from 0.
 */
export function missingOwnerAt(owners: Partial<KeyOwners>, place: number): MissingOwnerError {
  const owner = listOwners(owners)[Math.floor(place / 2)];
  if (owner === undefined) throw new TypeError(`a script misses an owner at ${place}, where there is none`);
  return new MissingOwnerError(owner.kind);
}
