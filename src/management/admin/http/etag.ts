import { AdminError } from "../admin-error.ts";

/** What an `If-Match` header asks for: any version, or one of these. */
export type IfMatch = "any" | readonly number[];

/** The strong validator of a record's settings (RFC 9110, section 8.8.3): its version in quotes. */
export function formatETag(version: number): string {
  return `"${version}"`;
}

/**
 * Null when there is no such header. A weak validator or one of another making matches nothing, as RFC 9110, section
 * 13.1.1 has it.
 */
export function parseIfMatch(header: string | undefined): IfMatch | null {
  if (header === undefined) return null;
  if (header.trim() === "*") return "any";
  const tags = header.match(/(?:W\/)?"[^"]*"/g) ?? [];
  return tags.flatMap((tag) => {
    const version = /^"(\d{1,15})"$/.exec(tag)?.[1];
    return version === undefined ? [] : [Number(version)];
  });
}

/**
 * The version that a change must find: null for any.
 * @throws AdminError 412 when the current one is not among those that were asked for.
 */
export function expectVersion(ifMatch: IfMatch | null, currentVersion: number): number | null {
  if (ifMatch === null || ifMatch === "any") return null;
  if (ifMatch.includes(currentVersion)) return currentVersion;
  throw new AdminError("version_conflict", { headers: { etag: formatETag(currentVersion) } });
}
