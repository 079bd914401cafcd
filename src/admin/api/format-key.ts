import { formatTimeOrNull } from "../../calendar.ts";
import { wholeCents } from "../../money.ts";
import { KEY_SETTINGS } from "../../settings/key.ts";
import { keyStateOf } from "../../settings/state.ts";
import { describeSettings } from "../../settings/table.ts";
import type { AuditFields } from "../../store/types/audit.ts";
import type { KeyRecord } from "../../store/types/management.ts";
import type { BucketFill } from "../../store/types/reporting.ts";

/** What a key has spent in a month, microcents, and what its bucket holds now. */
export interface KeyFigures {
  readonly month: string;
  /** By Redis's clock. */
  readonly timeMs: number;
  readonly spentMicrocents: bigint;
  readonly bucket: BucketFill;
}

/** What a person has set, in the words of the API. */
export function describeKey(record: KeyRecord) {
  return describeSettings(KEY_SETTINGS, record) satisfies AuditFields;
}

/** A key as the API shows it. The key itself is not kept, so it is not here. */
export function formatKey(record: KeyRecord, figures: KeyFigures) {
  return {
    id: record.id,
    organization_id: record.organizationId,
    display: record.display,
    ...describeKey(record),
    former_key_until: formatTimeOrNull(record.formerKeyUntilMs),
    state: keyStateOf(record, figures.spentMicrocents, figures.timeMs),
    created_at: new Date(record.createdAtMs).toISOString(),
    month: figures.month,
    spent_cents: wholeCents(figures.spentMicrocents),
    spent_microcents: Number(figures.spentMicrocents),
    bucket: { remaining: figures.bucket.remaining, capacity: figures.bucket.capacity },
  };
}
