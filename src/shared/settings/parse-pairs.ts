/** "name=value" each, as people write them; one without a value has an empty one, and the API says what it expects. */
export function parsePairs(pairs: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const [name = "", ...value] = pair.split("=");
      return [name.trim(), value.join("=").trim()] as const;
    }),
  );
}
