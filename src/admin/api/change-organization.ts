/** From what a caller sends to an organization's settings: what is left out stays, also inside of objects. */
import { createWebhookSecret } from "../../alerts/signature.ts";
import { AdminError } from "../admin-error.ts";
import type { Principal } from "../principal.ts";
import type { OrganizationChange } from "../schemas/organization.ts";
import type {
  KeyDefaults,
  NotificationSettings,
  OrganizationSettings,
} from "../../store/types/management.ts";
import { omitUndefined } from "./omit-undefined.ts";
import type { ApiServices } from "./route.ts";

export const NO_KEY_DEFAULTS: KeyDefaults = {
  requestsPerMinute: null,
  hardCapCents: null,
  budgetCents: null,
};
export const NO_NOTIFICATIONS: NotificationSettings = { dashboard: true, emails: [], webhook: null };

export interface OrganizationChangePlan {
  readonly changes: Partial<OrganizationSettings>;
  /** Made because the webhook's URL is set; shown once. */
  readonly newWebhookSecret: string | null;
}

/** @throws AdminError 400 for channels that this gateway cannot use, 403 for what only the operator may change. */
export function planOrganizationChange(
  current: Pick<OrganizationSettings, "notifications" | "keyDefaults">,
  wanted: OrganizationChange,
  principal: Principal,
  services: Pick<ApiServices, "hasMailServer" | "allowPrivateWebhooks">,
): OrganizationChangePlan {
  requireOperator(wanted, principal);
  requireChannels(wanted, services);
  const { notifications, key_defaults: defaults } = wanted;
  const webhook = planWebhook(current.notifications, notifications?.webhook);
  const changes = omitUndefined({
    name: wanted.name,
    currency: wanted.currency,
    hardCapCents: wanted.hard_cap_cents,
    budgetCents: wanted.budget_cents,
    strictCaps: wanted.strict_caps,
    suspended: wanted.suspended,
    notifications: notifications && {
      dashboard: notifications.dashboard ?? current.notifications.dashboard,
      emails: notifications.emails ?? current.notifications.emails,
      webhook: webhook.settings,
    },
    keyDefaults: defaults && {
      ...current.keyDefaults,
      ...omitUndefined({
        requestsPerMinute: defaults.requests_per_minute,
        hardCapCents: defaults.hard_cap_cents,
        budgetCents: defaults.budget_cents,
      }),
    },
  });
  return { changes, newWebhookSecret: webhook.newSecret };
}

/** Whether requests are served and which prices they have is not the customer's to decide. */
function requireOperator(wanted: OrganizationChange, principal: Principal): void {
  if (principal.type === "operator") return;
  for (const field of ["suspended", "currency"] as const) {
    if (wanted[field] === undefined) continue;
    const message = `\`${field}\`: only the operator's token may change it`;
    throw new AdminError("permission_denied", { message, param: field });
  }
}

function requireChannels(
  { notifications }: OrganizationChange,
  services: Pick<ApiServices, "hasMailServer" | "allowPrivateWebhooks">,
): void {
  if (!services.hasMailServer && (notifications?.emails?.length ?? 0) > 0) {
    const message =
      "`notifications.emails`: this gateway sends no mail: its operator has configured no mail server (`notifications.smtp`)";
    throw new AdminError("invalid_parameter", { message, param: "notifications.emails" });
  }
  const url = notifications?.webhook?.url;
  if (url !== undefined && new URL(url).protocol === "http:" && !services.allowPrivateWebhooks) {
    const message = "`notifications.webhook.url`: must begin with https://";
    throw new AdminError("invalid_parameter", { message, param: "notifications.webhook.url" });
  }
}

/** The same URL keeps its secret and is enabled again; a new one gets a new secret, which its receiver alone will know. */
function planWebhook(
  current: NotificationSettings,
  wanted: { url: string } | null | undefined,
): { settings: NotificationSettings["webhook"]; newSecret: string | null } {
  if (wanted === undefined) return { settings: current.webhook, newSecret: null };
  if (wanted === null) return { settings: null, newSecret: null };
  if (wanted.url === current.webhook?.url) {
    // Without `disabledAtMs`: somebody says that the endpoint is there again.
    const { url, secrets } = current.webhook;
    return { settings: { url, secrets }, newSecret: null };
  }
  const newSecret = createWebhookSecret();
  const settings = { url: wanted.url, secrets: [{ secret: newSecret, expiresAtMs: null }] };
  return { settings, newSecret };
}
