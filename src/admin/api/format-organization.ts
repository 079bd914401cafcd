import { wholeCents } from "../../money.ts";
import type { AuditFields } from "../../store/types/audit.ts";
import type { OrganizationRecord } from "../../store/types/management.ts";
import type { SpendFigures } from "../../store/types/reporting.ts";
import type { ApiServices } from "./route.ts";

/** What a person has set, in the words of the API. Without the webhook's secret. */
export function describeOrganization(record: OrganizationRecord) {
  const { notifications, keyDefaults } = record;
  return {
    name: record.name,
    currency: record.currency,
    hard_cap_cents: record.hardCapCents,
    budget_cents: record.budgetCents,
    strict_caps: record.strictCaps,
    suspended: record.suspended,
    notifications: {
      dashboard: notifications.dashboard,
      emails: notifications.emails,
      webhook: describeWebhook(notifications),
    },
    key_defaults: {
      requests_per_minute: keyDefaults.requestsPerMinute,
      hard_cap_cents: keyDefaults.hardCapCents,
      budget_cents: keyDefaults.budgetCents,
    },
  } satisfies AuditFields;
}

function describeWebhook({ webhook }: OrganizationRecord["notifications"]) {
  if (webhook === null) return null;
  const { url, disabledAtMs } = webhook;
  return { url, disabled_at: disabledAtMs === undefined ? null : new Date(disabledAtMs).toISOString() };
}

/** An organization as the API shows it. `newWebhookSecret` is only there in the answer that sets the URL. */
export function formatOrganization(
  record: OrganizationRecord,
  spend: SpendFigures,
  newWebhookSecret: string | null = null,
) {
  const settings = describeOrganization(record);
  const { notifications } = settings;
  const webhook =
    notifications.webhook === null || newWebhookSecret === null
      ? notifications.webhook
      : { ...notifications.webhook, secret: newWebhookSecret };
  return {
    id: record.id,
    ...settings,
    notifications: { ...notifications, webhook },
    created_at: new Date(record.createdAtMs).toISOString(),
    month: spend.month,
    spent_cents: wholeCents(spend.organizationMicrocents),
    spent_microcents: Number(spend.organizationMicrocents),
  };
}

/** This month's spend of an organization, without that of its keys. */
export function readOrganizationSpend(
  { store }: Pick<ApiServices, "store">,
  organizationId: string,
): Promise<SpendFigures> {
  return store.readSpend(organizationId, null, []);
}
