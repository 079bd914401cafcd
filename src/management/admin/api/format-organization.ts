import { formatTimeOrNull } from "../../../shared/time/calendar.ts";
import { wholeCents } from "../../../shared/money/money.ts";
import { ORGANIZATION_SETTINGS } from "../../../shared/settings/organization.ts";
import { gatherMonth } from "../../../shared/settings/month-limits.ts";
import { type LimitSpend, organizationStateOf } from "../../../shared/settings/state.ts";
import { type DescriptionOf, describeSettings, recordSettings } from "../../../shared/settings/table.ts";
import type { AuditFields } from "../../../data-path/store/types/audit.ts";
import type { OrganizationRecord } from "../../../data-path/store/types/management.ts";
import type { SpendFigures } from "../../../data-path/store/types/reporting.ts";
import type { NewWebhookSecrets } from "./change-organization.ts";
import { readOtherLimits } from "./other-limits.ts";
import type { ApiServices } from "./route.ts";

/** What a person has set, for the audit log. Without the webhook's secret. */
export function recordOrganization(record: OrganizationRecord) {
  return recordSettings(ORGANIZATION_SETTINGS, record) satisfies AuditFields;
}

/** Its own limits and those of new keys. */
function gatherAll(described: DescriptionOf<typeof ORGANIZATION_SETTINGS>) {
  return { ...gatherMonth(described), key_defaults: gatherMonth(described.key_defaults) };
}

/** An organization as the API shows it. A webhook's secret is only there in the answer that sets its URL. */
export function formatOrganization(
  record: OrganizationRecord,
  spend: OrganizationSpend,
  newSecrets: NewWebhookSecrets = new Map(),
) {
  const settings = gatherAll(describeSettings(ORGANIZATION_SETTINGS, record));
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
    state: organizationStateOf(record, {
      spentMicrocents: spend.organizationMicrocents,
      nowMs: spend.timeMs,
      otherLimits: spend.otherLimits,
    }),
    created_at: new Date(record.createdAtMs).toISOString(),
    deleted_at: formatTimeOrNull(record.deletedAtMs),
    month: spend.month,
    spent_cents: wholeCents(spend.organizationMicrocents),
    spent_microcents: spend.organizationMicrocents,
  };
}

/** What an organization has spent in this month, and of its limits in other windows. */
export interface OrganizationSpend extends SpendFigures {
  readonly otherLimits: LimitSpend["otherLimits"];
}

/** Without that of its keys. */
export async function readOrganizationSpend(
  { store }: Pick<ApiServices, "store">,
  organization: OrganizationRecord,
): Promise<OrganizationSpend> {
  const [spend, otherLimits] = await Promise.all([
    store.readSpend(organization.id, null, []),
    readOtherLimits(store, organization.id, organization),
  ]);
  return { ...spend, otherLimits };
}
