import { formatTimeOrNull } from "../../../shared/time/calendar.ts";
import { wholeCents } from "../../../shared/money/money.ts";
import {
  type NotificationSettings,
  ORGANIZATION_SETTINGS,
  type OrganizationSettings,
} from "../../../shared/settings/organization.ts";
import { organizationStateOf } from "../../../shared/settings/state.ts";
import { convertSettings, describeSettings, recordSettings } from "../../../shared/settings/table.ts";
import type { AuditFields } from "../../../shared/stored/audit.ts";
import type { OrganizationRecord } from "../../../shared/stored/management.ts";
import type { LimitReading, LimitStatus, SpendFigures } from "../../../shared/stored/reporting.ts";
import type { ApiServices } from "./route.ts";
import { createWebhookSecret } from "../../alerts/signature.ts";
import type { Setting } from "../../../shared/settings/setting.ts";
import { isAllowedAddress } from "../../../shared/settings/email-domains.ts";
import { explainWebhooks } from "../../../shared/settings/webhooks.ts";
import { createId } from "../../../data-path/store/ids.ts";
import { listFirst } from "../../../shared/text/list-words.ts";
import type { Catalog } from "../../../data-path/catalog/catalog.ts";
import { requireModel, requireStrictCaps } from "./key-settings.ts";
import { AdminError, invalidField } from "../admin-error.ts";
import type { Principal } from "../principal.ts";
import type { OrganizationChange } from "../schemas/organization.ts";

/** Returns the settings for the audit log, without the webhook's secret. */
export function recordOrganization(record: OrganizationRecord) {
  return recordSettings(ORGANIZATION_SETTINGS, record) satisfies AuditFields;
}

/** Formats an organization for the API. A webhook's secret is only in the response that sets its URL. */
export function formatOrganization(
  record: OrganizationRecord,
  spend: OrganizationSpend,
  newSecrets: NewWebhookSecrets = new Map(),
) {
  const settings = describeSettings(ORGANIZATION_SETTINGS, record);
  const { notifications } = settings;
  const { webhook, webhooks } = notifications;
  const withSecret = <Shown extends object>(channel: string, shown: Shown) => {
    const secret = newSecrets.get(channel);
    return secret === undefined ? shown : { ...shown, secret };
  };
  return {
    id: record.id,
    ...settings,
    notifications: {
      ...notifications,
      webhook: webhook === null ? null : withSecret("webhook", webhook),
      webhooks: webhooks.map((one) => withSecret(one.id, one)),
    },
    state: organizationStateOf(record, spend.limits),
    created_at: new Date(record.createdAtMs).toISOString(),
    deleted_at: formatTimeOrNull(record.deletedAtMs),
    month: spend.month,
    spent_cents: wholeCents(spend.organizationMicrocents),
    spent_microcents: spend.organizationMicrocents,
  };
}

/** Spend of an organization in the current month, and in the windows of its limits. */
interface OrganizationSpend extends SpendFigures {
  readonly limits: readonly LimitStatus[];
}

const NO_LIMITS: Pick<LimitReading, "limits"> = { limits: [] };

/** Reads the spend without that of each key. */
export async function readOrganizationSpend(
  { store }: Pick<ApiServices, "store">,
  organization: OrganizationRecord,
): Promise<OrganizationSpend> {
  const [spend, { limits }] = await Promise.all([
    store.readSpend(organization.id, null, []),
    // Most have none, and a list has thousands.
    organization.limits.length === 0
      ? NO_LIMITS
      : store.readLimits(organization.id, { keyId: null, owners: "" }),
  ]);
  return { ...spend, limits };
}

/**
 * Secrets created because a webhook's URL was set, shown only once. Key "webhook" for the first one,
 * otherwise the id.
 */
export type NewWebhookSecrets = ReadonlyMap<string, string>;

interface OrganizationChangePlan {
  readonly changes: Partial<OrganizationSettings>;
  readonly newSecrets: NewWebhookSecrets;
}

/**
 * Plans a change of an organization.
 * @param current Null for a new organization.
 * @param nowMs Redis's clock: a new webhook only gets alerts that fire later.
 * @throws AdminError 400 for settings that this gateway or these caps do not allow, 403 for settings that
 * only the operator may change.
 */
export function planOrganizationChange(
  current: OrganizationSettings | null,
  wanted: OrganizationChange,
  principal: Principal,
  services: Pick<ApiServices, "email" | "allowPrivateWebhooks" | "catalog">,
  nowMs: number,
): OrganizationChangePlan {
  requireOperator(wanted, principal);
  requireChannels(wanted, services);
  requireWebhooks(wanted, current?.notifications.webhooks ?? []);
  requireModelNames(wanted, services.catalog());
  requireStrictCaps(wanted, current, { strictCaps: wanted.strict_caps ?? current?.strictCaps ?? false });
  const changes = convertSettings(ORGANIZATION_SETTINGS, wanted, current);
  const newSecrets = new Map<string, string>();
  const { notifications } = changes;
  if (notifications === undefined) return { changes, newSecrets };
  return {
    changes: { ...changes, notifications: completeWebhooks(notifications, newSecrets, nowMs) },
    newSecrets,
  };
}

/** Rejects settings that customers must not decide: whether requests are served, and their prices. */
function requireOperator(wanted: OrganizationChange, principal: Principal): void {
  if (principal.type === "operator") return;
  for (const { apiName, changedBy } of Object.values<Setting>(ORGANIZATION_SETTINGS)) {
    if (changedBy !== "operator" || wanted[apiName as keyof OrganizationChange] === undefined) continue;
    const message = `\`${apiName}\`: only the operator's token can change it`;
    throw new AdminError("permission_denied", { message, param: apiName });
  }
}

function requireChannels(
  { notifications }: OrganizationChange,
  services: Pick<ApiServices, "email" | "allowPrivateWebhooks">,
): void {
  const { mailer, allowedDomains } = services.email;
  if (mailer === null && (notifications?.emails?.length ?? 0) > 0) {
    const problem = "this gateway has no mail server; its operator can set one in `notifications.smtp`";
    throw invalidField("notifications.emails", problem);
  }
  for (const [index, address] of (notifications?.emails ?? []).entries()) {
    if (isAllowedAddress(address, allowedDomains)) continue;
    const problem = `must be an address in ${listFirst(allowedDomains ?? [], 5)}; the operator sets the domains`;
    throw invalidField(`notifications.emails.${index}`, problem);
  }
  const urls = [
    ["webhook", notifications?.webhook?.url],
    ...(notifications?.webhooks ?? []).map(({ url }, index) => [`webhooks.${index}`, url] as const),
  ] as const;
  for (const [name, url] of urls) {
    if (url === undefined || new URL(url).protocol !== "http:" || services.allowPrivateWebhooks) continue;
    throw invalidField(`notifications.${name}.url`, "must begin with https://");
  }
}

function requireWebhooks(
  { notifications }: OrganizationChange,
  current: NotificationSettings["webhooks"],
): void {
  const problem = explainWebhooks(notifications?.webhooks ?? [], current);
  if (problem !== null) throw invalidField(`notifications.webhooks.${problem.field}`, problem.message);
}

/** Checks aliases: they must lead to models of the catalog, and must not hide one. */
function requireModelNames({ model_names: names }: OrganizationChange, catalog: Catalog): void {
  for (const [name, id] of Object.entries(names?.aliases ?? {})) {
    const param = `model_names.aliases.${name}`;
    if (catalog.find(name) !== undefined) {
      const problem = `\`${name}\` is the id of a catalog model. Choose another name`;
      throw invalidField(param, problem);
    }
    requireModel(param, id, catalog);
  }
  const defaultModel = names?.default_model ?? null;
  if (defaultModel !== null) requireModel("model_names.default_model", defaultModel, catalog);
}

/**
 * Keeps the secret of an unchanged URL, and creates one for a new URL, which only its receiver will know.
 * Assigns ids to new webhooks.
 */
function completeWebhooks(
  { webhook, webhooks, ...rest }: NotificationSettings,
  newSecrets: Map<string, string>,
  nowMs: number,
): NotificationSettings {
  const secretFor = (channel: string) => {
    const secret = createWebhookSecret();
    newSecrets.set(channel, secret);
    return [{ secret, expiresAtMs: null }];
  };
  const needsSecret = (one: { readonly secrets: readonly object[] }) => one.secrets.length === 0;
  return {
    ...rest,
    webhook:
      webhook !== null && needsSecret(webhook) ? { ...webhook, secrets: secretFor("webhook") } : webhook,
    webhooks: webhooks.map((one) => {
      const id = one.id === "" ? createId("webhook", nowMs) : one.id;
      const secrets = one.format === "standard" && needsSecret(one) ? secretFor(id) : one.secrets;
      return { ...one, id, secrets };
    }),
  };
}
