/** Maps in order with at most `count` calls at once: the next ones begin when all of these have ended. */
export async function mapTogether<Item, Result>(
  items: readonly Item[],
  count: number,
  map: (item: Item, position: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let start = 0; start < items.length; start += count) {
    const piece = items.slice(start, start + count).map((item, index) => map(item, start + index));
    results.push(...(await Promise.all(piece)));
  }
  return results;
}
