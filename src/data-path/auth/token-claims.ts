/** Reading the claims of a token. What is not there, or is of another type, is nothing. */
type Claims = Readonly<Record<string, unknown>>;

/** A claim by a path with dots. Names may have dots themselves (`kubernetes.io`): of several that fit the longest goes first. */
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

/** A text that is not empty; null otherwise. */
export function textClaim(claims: Claims, name: string): string | null {
  const value = claimAt(claims, name);
  return typeof value === "string" && value !== "" ? value : null;
}

/** Its texts: of a list each, of a text that one. */
export function textClaims(claims: Claims, name: string): readonly string[] {
  const value = claimAt(claims, name);
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  return values.filter((one): one is string => typeof one === "string");
}
