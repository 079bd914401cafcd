/**
 * Dashboard pages with the settings of limits and keys: targets of links in emails, webhooks, errors and
 * explanations.
 */
import type { WindowPeriod } from "../time/periods.ts";

/** Dashboard page of the models' overall state, which needs no sign-in. */
export const STATUS_PAGE = "/status";

/** `dashboard` of gateway.yaml. */
export interface DashboardAddress {
  /** Address of the dashboard for people, without a final slash; null: not set. */
  readonly baseUrl: string | null;
  /** Contact for customers about settings that they cannot change: an email address or an `https` URL; null: none. */
  readonly contact: string | null;
}

/** Names a limit by its scope and period. */
export interface LimitSubject {
  readonly scope: "key" | "user" | "group" | "organization";
  readonly organizationId: string;
  /** Null for other scopes. */
  readonly keyId: string | null;
  /** The user or group; null for other scopes. */
  readonly ownerId: string | null;
  readonly period: WindowPeriod;
}

/** Owner of a page: a limit without its period. */
export type PageOwner = Omit<LimitSubject, "period">;

export function ownerOfKey({ organizationId, keyId }: { organizationId: string; keyId: string }): PageOwner {
  return { scope: "key", organizationId, keyId, ownerId: null };
}

/**
 * Returns " Change it on https://…" to append to a sentence about a limit; '' if the dashboard's address is
 * not set.
 */
export function formatChangeLink({ baseUrl }: DashboardAddress, owner: PageOwner, field: string): string {
  return baseUrl === null ? "" : ` Change it on ${baseUrl}${formatOwnerPath(owner)}#${field}.`;
}

/** Returns the path of a key, a user or a group, or of the organization's settings. */
export function formatOwnerPath(owner: PageOwner): string {
  const { scope, organizationId, keyId, ownerId } = owner;
  if (scope === "organization") return formatSettingsPath(owner);
  return `/organizations/${organizationId}/${scope}s/${(scope === "key" ? keyId : ownerId) ?? ""}`;
}

/** Returns the path of the organization's settings, including notifications. */
export function formatSettingsPath({ organizationId }: Pick<LimitSubject, "organizationId">): string {
  return `/organizations/${organizationId}/settings`;
}
