/** Addresses of the dashboard's pages that an alert leads to. */
import type { AlertRecord } from "../store/types/alerts.ts";

type Subject = Pick<AlertRecord, "scope" | "organizationId" | "keyId">;

/** The page where the alert's amount is changed: that of the key, or the organization's settings. */
export function formatLimitsUrl(pagesUrl: string, alert: Subject): string {
  if (alert.scope === "organization") return formatSettingsUrl(pagesUrl, alert);
  return `${pagesUrl}/organizations/${alert.organizationId}/keys/${alert.keyId ?? ""}`;
}

/** The page of the organization's settings, notifications among them. */
export function formatSettingsUrl(pagesUrl: string, alert: Subject): string {
  return `${pagesUrl}/organizations/${alert.organizationId}/settings`;
}
