/**
 * PagerDuty's Events API v2: an alert of a service, and a test of the routing key.
 * @see https://developer.pagerduty.com/docs/send-alert-event
 */
import { shorten } from "../../../shared/text/shorten.ts";
import { nameSubject } from "../alert-names.ts";
import { describeMessage, isCapReached, mainAlertOf } from "../alert-words.ts";
import { formatAlertData, formatTime } from "../alert-event.ts";
import type { AlertRecord } from "../../../shared/stored/alerts.ts";
import { describeTest, type WebhookFormatter } from "./formatter.ts";

const MAX_SUMMARY_CHARACTERS = 1024;
const CLIENT = "Inference gateway";

export const pagerduty: WebhookFormatter = {
  formatAlerts({ message, organizationName, pagesUrl }, { routingKey }) {
    const { subject, reached, meaning, links } = describeMessage(message.alerts, organizationName, pagesUrl);
    const main = mainAlertOf(message.alerts);
    return {
      routing_key: routingKey,
      event_action: "trigger",
      // A message that arrives twice is one alert there.
      dedup_key: message.id,
      client: CLIENT,
      client_url: links[0]?.url ?? pagesUrl,
      payload: {
        summary: shorten(subject, MAX_SUMMARY_CHARACTERS),
        source: organizationName,
        severity: severityOf(main),
        timestamp: formatTime(main.firedAtMs),
        component: nameSubject(main).replace("the ", ""),
        class: main.kind,
        custom_details: {
          message: [...reached, ...meaning].join(" "),
          alerts: message.alerts.map(formatAlertData),
        },
      },
      links: links.map(({ label, url }) => ({ href: url, text: label })),
    };
  },
  /** Resolving a nonexistent incident has no effect, but reports a wrong routing key. */
  formatTest: (input, { routingKey }) => ({
    routing_key: routingKey,
    event_action: "resolve",
    dedup_key: input.id,
    client: CLIENT,
    payload: { summary: describeTest(input), source: input.organizationName, severity: "info" },
  }),
};

function severityOf(alert: AlertRecord): "critical" | "error" | "warning" {
  if (isCapReached(alert)) return "critical";
  return alert.kind === "hard_cap" ? "error" : "warning";
}
