import type { AlertMessage, AlertRecord } from "../../../src/shared/stored/alerts.ts";

export const ALERT: AlertRecord = {
  id: "alert_01934f6e-7d3a-7c1e-9a40-5f0c2b8d6e11",
  messageId: "alert_01934f6e-7d3a-7c1e-9a40-5f0c2b8d6e11",
  organizationId: "org_01934f6e-7d3a-7c1e-9a40-5f0c2b8d6e12",
  kind: "hard_cap",
  scope: "key",
  period: "month",
  windowStart: "2026-11-01",
  ownerId: null,
  ownerName: null,
  keyId: "key_01934f6e-7d3a-7c1e-9a40-5f0c2b8d6e13",
  keyName: "ci",
  thresholdPercent: 90,
  amountCents: 5000,
  spentMicrocents: 4_507_999_999n,
  currency: "USD",
  month: "2026-11",
  firedAtMs: Date.UTC(2026, 10, 20, 12, 0, 0, 345),
};

/** What fired in one step: an alert for each of the changes, or `ALERT` alone. */
export function messageOf(...changes: readonly Partial<AlertRecord>[]): AlertMessage {
  const [first = ALERT, ...others] = changes.map((change) => ({ ...ALERT, ...change }));
  return { id: ALERT.messageId, organizationId: ALERT.organizationId, alerts: [first, ...others] };
}
