/**
 * Workflow of Teams that starts with a webhook: an Adaptive Card in an attachment.
 * @see
 * https://learn.microsoft.com/en-us/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using
 * @see https://adaptivecards.io/explorer/AdaptiveCard.html
 */
import { describeMessage } from "../alert-words.ts";
import { describeTest, type WebhookFormatter } from "./formatter.ts";

/** Latest version that Teams supports. */
const CARD_VERSION = "1.5";

export const teams: WebhookFormatter = {
  formatAlerts({ message, organizationName, pagesUrl }) {
    const { subject, reached, meaning, links } = describeMessage(message.alerts, organizationName, pagesUrl);
    const body = [
      { ...textBlock(subject), size: "large", weight: "bolder" },
      ...[...reached, ...meaning].map(textBlock),
    ];
    return createMessage(
      body,
      links.map(({ label, url }) => ({ type: "Action.OpenUrl", title: label, url })),
    );
  },
  formatTest: (input) => createMessage([textBlock(describeTest(input))], []),
};

function createMessage(body: readonly object[], actions: readonly object[]): object {
  const content = {
    $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
    type: "AdaptiveCard",
    version: CARD_VERSION,
    body,
    actions,
  };
  const contentType = "application/vnd.microsoft.card.adaptive";
  return { type: "message", attachments: [{ contentType, contentUrl: null, content }] };
}

/** Cards render Markdown: escapes users' names. */
function textBlock(text: string) {
  return { type: "TextBlock", text: text.replace(/[\\`*_[\]()#<>~|]/g, "\\$&"), wrap: true };
}
