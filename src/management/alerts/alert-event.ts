/** Body of webhooks in the standard format, and of alerts in the management API. */
import { wholeCents } from "../../shared/money/money.ts";
import type { AlertKind, AlertRecord } from "../../shared/stored/alerts.ts";
import { describeMessage, pathOf, mainAlertOf } from "./alert-words.ts";
import type { AlertEventInput, TestEventInput } from "./formats/formatter.ts";
import { formatWindowEnd } from "../../shared/time/periods.ts";

/** Published types, by kind. */
export const ALERT_TYPES = {
  budget: "budget.threshold_reached",
  hard_cap: "hard_cap.threshold_reached",
  budget_forecast: "budget.forecast_exceeded",
  hard_cap_forecast: "hard_cap.forecast_exceeded",
  sudden_spend: "spend.sudden",
  summary: "spend.summary",
} as const satisfies Readonly<Record<AlertKind, string>>;

/** Returns the published type of an alert. */
export function alertTypeOf({ kind }: Pick<AlertRecord, "kind">): (typeof ALERT_TYPES)[AlertKind] {
  return ALERT_TYPES[kind];
}

/** Formats an alert's facts; the same in every attempt. */
export function formatAlertData(alert: AlertRecord) {
  return {
    id: alert.id,
    organization_id: alert.organizationId,
    scope: alert.scope,
    period: alert.period,
    window_start: alert.windowStart,
    user_id: alert.scope === "user" ? alert.ownerId : null,
    group_id: alert.scope === "group" ? alert.ownerId : null,
    owner_name: alert.ownerName,
    key_id: alert.keyId,
    key_name: alert.keyName,
    threshold_percent: alert.thresholdPercent,
    amount_cents: alert.amountCents,
    spent_cents: wholeCents(alert.spentMicrocents),
    currency: alert.currency,
    month: alert.month,
    resets_at: alert.windowStart === null ? null : formatWindowEnd(alert.period, alert.windowStart),
  };
}

/** Formats the body of a webhook: the main alert, and under `alerts` all of them. */
export function formatAlertEvent({ message, organizationName, pagesUrl }: AlertEventInput): object {
  const main = mainAlertOf(message.alerts);
  const words = describeMessage(message.alerts, organizationName, pagesUrl);
  const data = {
    ...formatAlertData(main),
    id: message.id,
    url: `${pagesUrl}${pathOf(main)}`,
    organization_name: organizationName,
    message: words.reached.join(" "),
    alerts: message.alerts.map((alert) => formatReached(alert, pagesUrl)),
  };
  const timestamp = formatTime(main.firedAtMs);
  return { type: alertTypeOf(main), timestamp, data };
}

function formatReached(alert: AlertRecord, pagesUrl: string) {
  const data = formatAlertData(alert);
  return {
    id: data.id,
    type: alertTypeOf(alert),
    scope: data.scope,
    period: data.period,
    window_start: data.window_start,
    user_id: data.user_id,
    group_id: data.group_id,
    owner_name: data.owner_name,
    key_id: data.key_id,
    key_name: data.key_name,
    threshold_percent: data.threshold_percent,
    amount_cents: data.amount_cents,
    spent_cents: data.spent_cents,
    resets_at: data.resets_at,
    url: `${pagesUrl}${pathOf(alert)}`,
  };
}

/** Formats the body of a test, which requires no action. */
export function formatTestEvent({ id, organizationId, nowMs }: TestEventInput): object {
  const data = { id, organization_id: organizationId };
  return { type: "webhook.test", timestamp: formatTime(nowMs), data };
}

/** Formats RFC 3339 with whole seconds. */
export function formatTime(timeMs: number): string {
  return new Date(timeMs).toISOString().replace(/\.\d{3}Z$/, "Z");
}
