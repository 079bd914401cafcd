import { formatTimeOrNull } from "../../../shared/time/calendar.ts";
import { wholeCents } from "../../../shared/money/money.ts";
import { KEY_SETTINGS } from "../../../shared/settings/key.ts";
import { keyStateOf, type LimitSpend } from "../../../shared/settings/state.ts";
import { describeSettings, recordSettings } from "../../../shared/settings/table.ts";
import type { AuditFields } from "../../../shared/stored/audit.ts";
import type { KeyRecord } from "../../../shared/stored/management.ts";
import type { BucketFill } from "../../../shared/stored/reporting.ts";
import { formatReference, type NamedOwners } from "./names.ts";
import { entriesOf } from "./record-change.ts";

/** Spend of a key in a month, microcents, and the level of its bucket. */
export interface KeyFigures {
  readonly month: string;
  /** By Redis's clock. */
  readonly timeMs: number;
  readonly spentMicrocents: bigint;
  /** Limits of its requests with their spend. */
  readonly limits: readonly LimitSpend[];
  readonly bucket: BucketFill;
  /** Owners that exist. */
  readonly owners: NamedOwners;
}

function recordKey(record: KeyRecord) {
  return recordSettings(KEY_SETTINGS, record) satisfies AuditFields;
}

export const KEY_ENTRIES = entriesOf("key", recordKey);

/** Formats a key for the API. The key's secret is not stored, so it is not included. */
export function formatKey(record: KeyRecord, figures: KeyFigures) {
  return {
    id: record.id,
    organization_id: record.organizationId,
    display: record.display,
    ...describeSettings(KEY_SETTINGS, record),
    user_id: figures.owners.user?.id ?? null,
    group_id: figures.owners.ownGroup?.id ?? null,
    user: formatReference(figures.owners.user),
    group: formatReference(figures.owners.group),
    former_key_until: formatTimeOrNull(record.formerKeyUntilMs),
    state: keyStateOf(record, { limits: figures.limits, nowMs: figures.timeMs }),
    created_at: new Date(record.createdAtMs).toISOString(),
    month: figures.month,
    spent_cents: wholeCents(figures.spentMicrocents),
    spent_microcents: figures.spentMicrocents,
    last_used_at: formatTimeOrNull(figures.bucket.lastUsedMs),
    bucket: { remaining: figures.bucket.remaining, capacity: figures.bucket.capacity },
    token_buckets: figures.bucket.tokens.map(({ type, limit, remaining, resetMs }) => ({
      type,
      limit,
      remaining,
      full_in_seconds: Math.ceil(resetMs / 1000),
    })),
  };
}
