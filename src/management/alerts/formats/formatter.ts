/** What each format of a webhook has: a body for alerts, and one for a test. */
import type { AlertMessage } from "../../../data-path/store/types/alerts.ts";
import type { Webhook } from "../webhooks.ts";

export interface AlertEventInput {
  readonly message: AlertMessage;
  readonly organizationName: string;
  /** Base of the dashboard's pages, without a slash at its end. */
  readonly pagesUrl: string;
}

export interface TestEventInput {
  /** `alert_…` */
  readonly id: string;
  readonly organizationId: string;
  readonly organizationName: string;
  readonly nowMs: number;
}

/** Bodies are values for JSON; the same in every attempt. */
export interface WebhookFormatter {
  formatAlerts(input: AlertEventInput, webhook: Pick<Webhook, "routingKey">): object;
  /** Nothing was reached, the receiver need do nothing. */
  formatTest(input: TestEventInput, webhook: Pick<Webhook, "routingKey">): object;
}

export function describeTest({ organizationName }: TestEventInput): string {
  return `A test of the alerts of ${organizationName}. Nothing was reached.`;
}
