import type { OidcProviderConfig } from "../../shared/config/schema.ts";

/** Role of a person, and where it applies. */
export type Grant =
  | { readonly role: "operator"; readonly organizationId: null }
  | { readonly role: "admin" | "viewer" | "member"; readonly organizationId: string };

type Named = { readonly role: Grant["role"]; readonly organizationId: string | null };

/** Returns the first matching role of a provider; null if none matches. */
export function chooseRole(roles: OidcProviderConfig["roles"], groups: readonly string[]): Grant | null {
  const rule = roles.find(({ any, equals }) => any === true || (equals !== null && groups.includes(equals)));
  if (rule === undefined) return null;
  const { role, organization } = rule;
  if (role === "operator") return { role, organizationId: null };
  // The configuration's check requires one.
  return organization === null ? null : { role, organizationId: organization };
}

export function isSameGrant(first: Named, second: Named): boolean {
  return first.role === second.role && first.organizationId === second.organizationId;
}
