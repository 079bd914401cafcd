/** Readers of a token's claims. Missing claims and those of another type count as absent. */
type Claims = Readonly<Record<string, unknown>>;

/**
 * Returns a claim by its dotted path. Names may contain dots themselves (`kubernetes.io`): the longest match
 * is tried first.
 */
function claimAt(claims: Claims, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  for (let dot = path.lastIndexOf("."); dot > 0; dot = path.lastIndexOf(".", dot - 1)) {
    const name = path.slice(0, dot);
    const within = Object.hasOwn(claims, name) ? claims[name] : undefined;
    if (typeof within !== "object" || within === null) continue;
    const found = claimAt(within as Claims, path.slice(dot + 1));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Returns a non-empty text, or null. */
export function textClaim(claims: Claims, name: string): string | null {
  const value = claimAt(claims, name);
  return typeof value === "string" && value !== "" ? value : null;
}

/** Returns the texts of a list, or a single text. */
export function textClaims(claims: Claims, name: string): readonly string[] {
  const value = claimAt(claims, name);
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  return values.filter((one): one is string => typeof one === "string");
}
