/** From what a caller sends to an organization's settings: what is left out stays, also inside of objects. */
import { createWebhookSecret } from "../../alerts/signature.ts";
import {
  type NotificationSettings,
  ORGANIZATION_SETTINGS,
  type OrganizationSettings,
} from "../../settings/organization.ts";
import type { StoredSetting } from "../../settings/setting.ts";
import { convertSettings } from "../../settings/table.ts";
import type { Catalog } from "../../catalog/catalog.ts";
import { requireModel } from "./key-settings.ts";
import { AdminError } from "../admin-error.ts";
import type { Principal } from "../principal.ts";
import type { OrganizationChange } from "../schemas/organization.ts";
import type { ApiServices } from "./route.ts";

export interface OrganizationChangePlan {
  readonly changes: Partial<OrganizationSettings>;
  /** Made because the webhook's URL is set; shown once. */
  readonly newWebhookSecret: string | null;
}

/**
 * @param current Null for an organization that is made new.
 * @throws AdminError 400 for channels that this gateway cannot use, 403 for what only the operator may change.
 */
export function planOrganizationChange(
  current: OrganizationSettings | null,
  wanted: OrganizationChange,
  principal: Principal,
  services: Pick<ApiServices, "hasMailServer" | "allowPrivateWebhooks" | "catalog">,
): OrganizationChangePlan {
  requireOperator(wanted, principal);
  requireChannels(wanted, services);
  requireModelNames(wanted, services.catalog());
  const changes = convertSettings(ORGANIZATION_SETTINGS, wanted, current);
  const { notifications } = changes;
  if (notifications?.webhook?.secrets.length !== 0) return { changes, newWebhookSecret: null };
  const newWebhookSecret = createWebhookSecret();
  return {
    changes: { ...changes, notifications: addSecret(notifications, newWebhookSecret) },
    newWebhookSecret,
  };
}

/** Whether requests are served and which prices they have is not the customer's to decide. */
function requireOperator(wanted: OrganizationChange, principal: Principal): void {
  if (principal.type === "operator") return;
  for (const { apiName, changedBy } of Object.values<StoredSetting>(ORGANIZATION_SETTINGS)) {
    if (changedBy !== "operator" || wanted[apiName as keyof OrganizationChange] === undefined) continue;
    const message = `\`${apiName}\`: only the operator's token may change it`;
    throw new AdminError("permission_denied", { message, param: apiName });
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

/** Names lead to models of the catalog, and hide none of it. */
function requireModelNames({ model_names: names }: OrganizationChange, catalog: Catalog): void {
  for (const [name, id] of Object.entries(names?.aliases ?? {})) {
    const param = `model_names.aliases.${name}`;
    if (catalog.find(name) !== undefined) {
      const message = `\`${param}\`: \`${name}\` is the id of a model of the catalog, which a name must not hide`;
      throw new AdminError("invalid_parameter", { message, param });
    }
    requireModel(param, id, catalog);
  }
  const defaultModel = names?.default_model ?? null;
  if (defaultModel !== null) requireModel("model_names.default_model", defaultModel, catalog);
}

/** The same URL keeps its secret; a new one gets a new secret, which its receiver alone will know. */
function addSecret(notifications: NotificationSettings, secret: string): NotificationSettings {
  const { webhook } = notifications;
  if (webhook === null) return notifications;
  return { ...notifications, webhook: { ...webhook, secrets: [{ secret, expiresAtMs: null }] } };
}
