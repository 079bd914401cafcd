import type { Store } from "../../../data-path/store/types.ts";

/** What is read at once: an organization can have thousands of keys. */
const READ_TOGETHER = 500;

/** Key id → its name, of deleted ones too as long as their figures are kept. Each is read once. */
export async function readKeyNames(
  store: Pick<Store, "getKey">,
  organizationId: string,
  keyIds: readonly (string | null)[],
): Promise<ReadonlyMap<string, string>> {
  const ids = [...new Set(keyIds)].filter((id) => id !== null);
  const names = new Map<string, string>();
  for (let start = 0; start < ids.length; start += READ_TOGETHER) {
    const batch = ids.slice(start, start + READ_TOGETHER);
    const records = await Promise.all(batch.map((keyId) => store.getKey({ organizationId, keyId })));
    for (const record of records) if (record !== null) names.set(record.id, record.name);
  }
  return names;
}
