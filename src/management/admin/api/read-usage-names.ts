/** What people know the keys, users and groups of requests and of rows of usage by. */
import { listOwnerIds, parseOwnerIds } from "../../../data-path/store/types/owner-ids.ts";
import type { UsageRow } from "../../../data-path/store/types/reporting.ts";
import type { Store } from "../../../data-path/store/types.ts";
import { readKeyNames } from "./read-key-names.ts";

export type NamesStore = Pick<Store, "getKey" | "readOwnerNames">;

type Parts = Pick<UsageRow, "keyId" | "owners">;

/** Null: there is none, or its figures are not kept any more. */
export interface UsageNames {
  readonly keyName: string | null;
  readonly userName: string | null;
  readonly groupName: string | null;
}

/** Those of requests or rows, of deleted ones too as long as their figures are kept. Each is read once. */
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
