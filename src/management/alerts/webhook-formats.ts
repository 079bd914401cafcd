/** Formats of webhooks. */
import type { WebhookFormat } from "../../shared/settings/webhooks.ts";
import { formatAlertEvent, formatTestEvent } from "./alert-event.ts";
import { pagerduty } from "./formats/pagerduty.ts";
import { slack } from "./formats/slack.ts";
import { teams } from "./formats/teams.ts";
import type { WebhookFormatter } from "./formats/formatter.ts";

const standard: WebhookFormatter = {
  formatAlerts: formatAlertEvent,
  formatTest: formatTestEvent,
};

export const FORMATS: Readonly<Record<WebhookFormat, WebhookFormatter>> = {
  standard,
  slack,
  teams,
  pagerduty,
};
