/**
 * The dashboard's pages on which what stands in somebody's way is changed: where the links of mails, webhooks, refusals
 * and explanations lead.
 */

/** `dashboard` of gateway.yaml. */
export interface DashboardAddress {
  /** As people reach the pages, without a slash at its end; null: not set. */
  readonly baseUrl: string | null;
  /** Whom customers ask about what they cannot change: a mail address or an `https` URL; null: nobody. */
  readonly contact: string | null;
}

/** Whose limit it is. */
export interface LimitSubject {
  readonly scope: "key" | "organization";
  readonly organizationId: string;
  /** Null when the scope is the organization. */
  readonly keyId: string | null;
}

/** The field in which a limit is changed: on the page of its key, or in the organization's settings. */
export function formatLimitPath(subject: LimitSubject, kind: "budget" | "hard_cap"): string {
  const page =
    subject.scope === "organization"
      ? formatSettingsPath(subject)
      : `/organizations/${subject.organizationId}/keys/${subject.keyId ?? ""}`;
  // Fields have the names of their settings in the API.
  return `${page}#${kind}_cents`;
}

/** The organization's settings, notifications among them. */
export function formatSettingsPath({ organizationId }: Pick<LimitSubject, "organizationId">): string {
  return `/organizations/${organizationId}/settings`;
}
