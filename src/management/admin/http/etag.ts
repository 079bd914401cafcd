import { AdminError } from "../admin-error.ts";

/** Versions accepted by an `If-Match` header: any, or one of these. */
export type IfMatch = "any" | readonly number[];

/** Returns the strong validator of a record's settings (RFC 9110, section 8.8.3): its version in quotes. */
export function formatETag(version: number): string {
  return `"${version}"`;
}

/** Returns null without a header. A weak or foreign validator matches nothing, as in RFC 9110, section 13.1.1. */
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
 * Returns the version that a change must find: null for any.
 * @throws AdminError 412 if the current version is not among the accepted ones.
 */
export function expectVersion(ifMatch: IfMatch | null, currentVersion: number): number | null {
  if (ifMatch === null || ifMatch === "any") return null;
  if (ifMatch.includes(currentVersion)) return currentVersion;
  throw new AdminError("version_conflict", { headers: { etag: formatETag(currentVersion) } });
}
