/** Formatter of a webhook's format: bodies of alerts and tests. */
import type { AlertMessage } from "../../../shared/stored/alerts.ts";
import type { Webhook } from "../webhooks.ts";

export interface AlertEventInput {
  readonly message: AlertMessage;
  readonly organizationName: string;
  /** Base URL of the dashboard's pages, without a final slash. */
  readonly pagesUrl: string;
}

export interface TestEventInput {
  /** `alert_…` */
  readonly id: string;
  readonly organizationId: string;
  readonly organizationName: string;
  readonly nowMs: number;
}

/** Bodies are JSON values, the same in every attempt. */
export interface WebhookFormatter {
  formatAlerts(input: AlertEventInput, webhook: Pick<Webhook, "routingKey">): object;
  /** Body of a test, which requires no action. */
  formatTest(input: TestEventInput, webhook: Pick<Webhook, "routingKey">): object;
}

export function describeTest({ organizationName }: TestEventInput): string {
  return `Test alert of ${organizationName}. No limit was reached.`;
}
