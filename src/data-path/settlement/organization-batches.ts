/** Work on many requests, grouped by organization and in batches. */

const MAX_BATCH = 500;

/** Splits items into batches of 500. */
export function* batches<Item>(items: readonly Item[]): Generator<Item[]> {
  for (let start = 0; start < items.length; start += MAX_BATCH) yield items.slice(start, start + MAX_BATCH);
}

export function pushTo<Item>(lists: Map<string, Item[]>, name: string, item: Item): void {
  const list = lists.get(name);
  if (list === undefined) lists.set(name, [item]);
  else list.push(item);
}

/**
 * Runs for all organizations concurrently, one batch at a time each: if one organization's cluster node is
 * unreachable, the others do not wait for it. Rejects after all have ended if one failed.
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
