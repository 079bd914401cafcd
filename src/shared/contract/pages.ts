/**
 * The dashboard's pages on which what stands in somebody's way is changed: where the links of mails, webhooks, refusals
 * and explanations lead.
 */

/** `dashboard` of gateway.yaml. */
export interface DashboardAddress {
  /** The address under which people reach the pages, without a slash at its end; null: not set. */
  readonly baseUrl: string | null;
  /** Whom customers ask about what they cannot change: a mail address or an `https` URL; null: nobody. */
  readonly contact: string | null;
}

/** Names a limit by whose it is and its period. */
export interface LimitSubject {
  readonly scope: "key" | "user" | "group" | "organization";
  readonly organizationId: string;
  /** Null when the scope is another. */
  readonly keyId: string | null;
  /** The user or the group; null when the scope is another. */
  readonly ownerId: string | null;
  readonly period: "day" | "week" | "month" | "total";
}

/** Whose page it is: a limit without its period. */
export type PageOwner = Omit<LimitSubject, "period">;

export function ownerOfKey({ organizationId, keyId }: { organizationId: string; keyId: string }): PageOwner {
  return { scope: "key", organizationId, keyId, ownerId: null };
}

/** The field in which a limit is changed: on the page of its owner, or in the organization's settings. */
export function formatLimitPath(subject: LimitSubject, kind: "budget" | "hard_cap"): string {
  const { scope, period } = subject;
  // Fields have the names of their settings in the API. Those of a month are older than the others, and there were keys first.
  const isOfMonth = period === "month" && (scope === "key" || scope === "organization");
  return `${formatOwnerPath(subject)}#${isOfMonth ? `${kind}_cents` : "limits"}`;
}

/** " Change it on https://…", behind a sentence about a limit; '' as long as nobody has said where the dashboard is. */
export function formatChangeLink({ baseUrl }: DashboardAddress, owner: PageOwner, field: string): string {
  return baseUrl === null ? "" : ` Change it on ${baseUrl}${formatOwnerPath(owner)}#${field}.`;
}

/** The page of a key, a user or a group, or the organization's settings. */
export function formatOwnerPath(owner: PageOwner): string {
  const { scope, organizationId, keyId, ownerId } = owner;
  if (scope === "organization") return formatSettingsPath(owner);
  return `/organizations/${organizationId}/${scope}s/${(scope === "key" ? keyId : ownerId) ?? ""}`;
}

/** The organization's settings, notifications among them. */
export function formatSettingsPath({ organizationId }: Pick<LimitSubject, "organizationId">): string {
  return `/organizations/${organizationId}/settings`;
}
