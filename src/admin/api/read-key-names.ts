import type { Store } from "../../store/types.ts";

/** Key id → its name, of deleted ones too as long as their figures are kept. Each is read once. */
export async function readKeyNames(
  store: Pick<Store, "getKey">,
  organizationId: string,
  keyIds: readonly (string | null)[],
): Promise<ReadonlyMap<string, string>> {
  const ids = [...new Set(keyIds)].filter((id) => id !== null);
  const records = await Promise.all(ids.map((keyId) => store.getKey({ organizationId, keyId })));
  return new Map(records.flatMap((record) => (record === null ? [] : [[record.id, record.name] as const])));
}
