/** "a, b and c", for sentences. @param word Before the last one. */
export function listWords(items: readonly string[], word: "and" | "or" = "and"): string {
  const last = items.at(-1);
  if (items.length < 2 || last === undefined) return last ?? "";
  return `${items.slice(0, -1).join(", ")} ${word} ${last}`;
}
