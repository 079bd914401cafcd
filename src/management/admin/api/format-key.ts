import { formatTimeOrNull } from "../../../shared/time/calendar.ts";
import { wholeCents } from "../../../shared/money/money.ts";
import { KEY_SETTINGS } from "../../../shared/settings/key.ts";
import { gatherMonth } from "../../../shared/settings/month-limits.ts";
import { keyStateOf, type LimitSpend } from "../../../shared/settings/state.ts";
import { describeSettings } from "../../../shared/settings/table.ts";
import type { AuditFields } from "../../../data-path/store/types/audit.ts";
import type { KeyRecord } from "../../../data-path/store/types/management.ts";
import type { BucketFill } from "../../../data-path/store/types/reporting.ts";
import { formatReference, type NamedOwners } from "./names.ts";
import { entriesOf } from "./record-change.ts";

/** What a key has spent in a month, microcents, and what its bucket holds now. */
export interface KeyFigures {
  readonly month: string;
  /** By Redis's clock. */
  readonly timeMs: number;
  readonly spentMicrocents: bigint;
  /** Its own of other windows than the month, with what was spent of them. */
  readonly otherLimits: LimitSpend["otherLimits"];
  readonly bucket: BucketFill;
  /** Whose it is, of those that are there. */
  readonly owners: NamedOwners;
}

/** What a person has set, in the words of the API; the month's limits under their own names alone. */
export function describeKey(record: KeyRecord) {
  return describeSettings(KEY_SETTINGS, record) satisfies AuditFields;
}

export const KEY_ENTRIES = entriesOf("key", describeKey);

/** A key as the API shows it. The key itself is not kept, so it is not here. */
export function formatKey(record: KeyRecord, figures: KeyFigures) {
  return {
    id: record.id,
    organization_id: record.organizationId,
    display: record.display,
    ...gatherMonth(describeKey(record)),
    user_id: figures.owners.user?.id ?? null,
    group_id: figures.owners.ownGroup?.id ?? null,
    user: formatReference(figures.owners.user),
    group: formatReference(figures.owners.group),
    former_key_until: formatTimeOrNull(record.formerKeyUntilMs),
    state: keyStateOf(record, { ...figures, nowMs: figures.timeMs }),
    created_at: new Date(record.createdAtMs).toISOString(),
    month: figures.month,
    spent_cents: wholeCents(figures.spentMicrocents),
    spent_microcents: figures.spentMicrocents,
    bucket: { remaining: figures.bucket.remaining, capacity: figures.bucket.capacity },
    token_buckets: figures.bucket.tokens.map(({ type, limit, remaining, resetMs }) => ({
      type,
      limit,
      remaining,
      full_in_seconds: Math.ceil(resetMs / 1000),
    })),
  };
}
