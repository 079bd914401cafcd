/** Formats "a, b and c" for sentences. @param word Word before the last item. */
export function listWords(items: readonly string[], word: "and" | "or" = "and"): string {
  const last = items.at(-1);
  if (items.length < 2 || last === undefined) return last ?? "";
  return `${items.slice(0, -1).join(", ")} ${word} ${last}`;
}

/** Formats the first `count` items and how many more there are: "a, b and 27 more". */
export function listFirst(items: readonly string[], count: number): string {
  if (items.length <= count) return listWords(items);
  return listWords([...items.slice(0, count), `${items.length - count} more`]);
}
