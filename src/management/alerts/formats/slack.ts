/**
 * Incoming webhook of Slack: a message of blocks, with a text for notifications.
 * @see https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
 * @see https://docs.slack.dev/reference/block-kit/blocks
 */
import { shorten } from "../../../shared/text/shorten.ts";
import { describeMessage } from "../alert-words.ts";
import { describeTest, type WebhookFormatter } from "./formatter.ts";

/** A header block's text. */
const MAX_HEADER_CHARACTERS = 150;
/** A section block's text. */
const MAX_SECTION_CHARACTERS = 3000;
/** A button's text, and its URL. */
const MAX_BUTTON_CHARACTERS = 75;

export const slack: WebhookFormatter = {
  formatAlerts({ message, organizationName, pagesUrl }) {
    const { subject, reached, meaning, links } = describeMessage(message.alerts, organizationName, pagesUrl);
    return {
      text: escape(subject),
      blocks: [
        { type: "header", text: plainText(subject, MAX_HEADER_CHARACTERS) },
        ...[...reached, ...meaning].map((text) => section(text)),
        {
          type: "actions",
          elements: links.map(({ label, url }) => ({
            type: "button",
            text: plainText(label, MAX_BUTTON_CHARACTERS),
            url,
          })),
        },
      ],
    };
  },
  formatTest(input) {
    const text = describeTest(input);
    return { text: escape(text), blocks: [section(text)] };
  },
};

function section(text: string): object {
  // Shortened after escaping, which makes it longer.
  return { type: "section", text: { type: "mrkdwn", text: shorten(escape(text), MAX_SECTION_CHARACTERS) } };
}

function plainText(text: string, maximum: number): object {
  return { type: "plain_text", text: shorten(text, maximum), emoji: false };
}

/** Escapes users' names, so that they mention no one and link nowhere; a zero-width space breaks formatting marks. */
function escape(text: string): string {
  const escaped = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  return escaped.replace(/[*_~`]/g, "$&\u200B");
}
