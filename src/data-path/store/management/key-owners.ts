/** The owners of a key, its user and its group, as names of Redis keys. */
import { listOf } from "../redis/row-layouts.ts";
import type { KeySettings } from "../../../shared/settings/key.ts";
import { ownerKey, ownerKeysKey } from "../redis/keys.ts";
import { isId } from "../ids.ts";
import { OWNER_KINDS, type OwnerKind } from "../types/owner-kinds.ts";
import { MissingOwnerError } from "./missing-owner.ts";

export type KeyOwners = Pick<KeySettings, "userId" | "groupId">;

interface Owner {
  readonly kind: OwnerKind;
  readonly id: string;
}

/** Those of them that are named, the user first. @throws MissingOwnerError for what is no id */
function listOwners(owners: Partial<KeyOwners>): readonly Owner[] {
  const ids = { user: owners.userId ?? null, group: owners.groupId ?? null };
  return OWNER_KINDS.flatMap((kind) => {
    const id = ids[kind];
    if (id === null) return [];
    if (!isId(kind, id)) throw new MissingOwnerError(kind);
    return [{ kind, id }];
  });
}

/** The record and the list of keys of each of them. @throws MissingOwnerError for what is no id */
export function namesOfOwners(organizationId: string, owners: Partial<KeyOwners>): string[] {
  return listOwners(owners).flatMap(({ kind, id }) =>
    listOf["owner-keys"]({
      record: ownerKey(organizationId, kind, id),
      list: ownerKeysKey(organizationId, kind, id),
    }),
  );
}

/** The lists of their keys. */
export function listsOfOwners(organizationId: string, owners: Partial<KeyOwners>): string[] {
  return listOwners(owners).map(({ kind, id }) => ownerKeysKey(organizationId, kind, id));
}

/** The owner that a script misses. @param place The place of its record among the names, from 0 on. */
export function missingOwnerAt(owners: Partial<KeyOwners>, place: number): MissingOwnerError {
  const owner = listOwners(owners)[Math.floor(place / 2)];
  if (owner === undefined) throw new TypeError(`a script misses an owner at ${place}, where there is none`);
  return new MissingOwnerError(owner.kind);
}
