/** What a webhook receives, and what the management API shows of an alert. */
import { wholeCents } from "../money.ts";
import { parseMonth } from "../calendar.ts";
import type { AlertRecord } from "../store/types/alerts.ts";
import { formatLimitPath } from "../pages.ts";

const TYPES = {
  budget: "budget.threshold_reached",
  hard_cap: "hard_cap.threshold_reached",
} as const;

/** Of an alert: `type` says which kind of amount its threshold is of. */
export function alertTypeOf({ kind }: Pick<AlertRecord, "kind">): (typeof TYPES)[keyof typeof TYPES] {
  return TYPES[kind];
}

/** The `data` of the event. The same in every attempt. */
export function formatAlertData(alert: AlertRecord) {
  return {
    id: alert.id,
    organization_id: alert.organizationId,
    scope: alert.scope,
    key_id: alert.keyId,
    key_name: alert.keyName,
    threshold_percent: alert.thresholdPercent,
    amount_cents: alert.amountCents,
    spent_cents: wholeCents(alert.spentMicrocents),
    currency: alert.currency,
    month: alert.month,
    resets_at: formatTime(monthEndMs(alert.month)),
  };
}

/** The body of a webhook's request. `pagesUrl`: base of the dashboard's pages, without a slash at its end. */
export function formatAlertEvent(alert: AlertRecord, pagesUrl: string): string {
  const timestamp = formatTime(alert.firedAtMs);
  const data = { ...formatAlertData(alert), url: `${pagesUrl}${limitPathOf(alert)}` };
  return JSON.stringify({ type: alertTypeOf(alert), timestamp, data });
}

/** The field of the dashboard in which the amount is changed. */
export function limitPathOf(alert: AlertRecord): string {
  return formatLimitPath(alert, `${alert.kind}_cents`);
}

/** The body of a test: nothing was reached, the receiver need do nothing. */
export function formatTestEvent(id: string, organizationId: string, nowMs: number): string {
  const data = { id, organization_id: organizationId };
  return JSON.stringify({ type: "webhook.test", timestamp: formatTime(nowMs), data });
}

/** When the spend of the alert's month no longer counts. @throws RangeError */
export function monthEndMs(month: string): number {
  const parsed = parseMonth(month);
  if (parsed === null) throw new RangeError(`"${month}" is not a month like "2026-11"`);
  return parsed.endMs;
}

/** RFC 3339, whole seconds. */
export function formatTime(timeMs: number): string {
  return new Date(timeMs).toISOString().replace(/\.\d{3}Z$/, "Z");
}
