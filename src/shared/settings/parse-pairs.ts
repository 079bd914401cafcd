/** Parses "name=value" pairs; a pair without a value gets an empty one, which the API then rejects. */
export function parsePairs(pairs: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const [name = "", ...value] = pair.split("=");
      return [name.trim(), value.join("=").trim()] as const;
    }),
  );
}
