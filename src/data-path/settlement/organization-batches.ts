/** Work that is done for many requests at once, organization by organization. */

const MAX_BATCH = 500;

/** In pieces of 500. */
export function* batches<Item>(items: readonly Item[]): Generator<Item[]> {
  for (let start = 0; start < items.length; start += MAX_BATCH) yield items.slice(start, start + MAX_BATCH);
}

export function pushTo<Item>(lists: Map<string, Item[]>, name: string, item: Item): void {
  const list = lists.get(name);
  if (list === undefined) lists.set(name, [item]);
  else list.push(item);
}

/**
 * Runs for each organization, all at once, a batch at a time: in a cluster the node of one may be away, and the others do
 * not wait for it. Rejects when one failed, after all have ended.
 */
export async function eachOrganization<Item>(
  byOrganization: ReadonlyMap<string, readonly Item[]>,
  run: (organizationId: string, batch: Item[]) => Promise<unknown>,
): Promise<void> {
  const runs = [...byOrganization].map(async ([organizationId, items]) => {
    for (const batch of batches(items)) await run(organizationId, batch);
  });
  const failed = (await Promise.allSettled(runs)).find((result) => result.status === "rejected");
  if (failed !== undefined) throw failed.reason;
}
