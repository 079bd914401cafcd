/** Email of a message: what was reached, its meaning, and what to do. */
import { html } from "hono/html";
import { formatSettingsPath } from "../../shared/contract/pages.ts";
import type { AlertMessage } from "../../shared/stored/alerts.ts";
import { type AlertLink, cleanName } from "./alert-names.ts";
import { describeMessage } from "./alert-words.ts";

/** Maximum of further alerts described in one email. */
const MAX_SHOWN = 50;

export interface AlertMail {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

export interface AlertMailInput {
  readonly message: AlertMessage;
  /** Further lines of a summary. */
  readonly details?: readonly string[];
  /** Further alerts that the same email summarizes. */
  readonly furtherAlerts?: readonly AlertMessage[];
  readonly organizationName: string;
  /** Base URL of the dashboard's pages, without a final slash. */
  readonly pagesUrl: string;
}

/** Builds the email. Names come from users: they must not add lines to it. */
export async function createAlertMail(input: AlertMailInput): Promise<AlertMail> {
  const { message, furtherAlerts = [], details = [], organizationName, pagesUrl } = input;
  const words = describeMessage(message.alerts, organizationName, pagesUrl);
  const { links } = words;
  const subject =
    furtherAlerts.length === 0 ? words.subject : `${words.subject} (and ${countMore(furtherAlerts)})`;
  const paragraphs = [...words.reached, ...words.meaning, ...details, ...describeFurtherAlerts(input)];
  const settingsUrl = `${pagesUrl}${formatSettingsPath(message)}`;
  const notice = `${describeAddress(organizationName, settingsUrl)}\nAlert ${message.id}.`;
  return formatMail({ subject, paragraphs, links, notice });
}

/** Builds the email that an admin asks for to see that emails arrive. @param settingsUrl Null: not known. */
export function createTestMail(organizationName: string, settingsUrl: string | null): Promise<AlertMail> {
  const name = cleanName(organizationName);
  return formatMail({
    subject: `[${name}] Test of alert emails`,
    paragraphs: [`Spend alerts of ${name} arrive at this address. No limit was reached.`],
    links: [],
    notice: describeAddress(name, settingsUrl),
  });
}

function describeAddress(organizationName: string, settingsUrl: string | null): string {
  const place = settingsUrl === null ? "." : `: ${settingsUrl}`;
  return `You receive this email because the notification settings of ${cleanName(organizationName)} contain your address. Remove it there${place}`;
}

interface MailParts {
  readonly subject: string;
  readonly paragraphs: readonly string[];
  readonly links: readonly AlertLink[];
  readonly notice: string;
}

async function formatMail({ subject, paragraphs, links, notice }: MailParts): Promise<AlertMail> {
  const text = [...paragraphs, ...links.map(({ label, url }) => `${label}:\n${url}`), `-- \n${notice}`];
  const page = await html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <title>${subject}</title>
      </head>
      <body style="font-family: sans-serif; line-height: 1.5; max-width: 40em">
        <h1 style="font-size: 1.2em">${subject}</h1>
        ${paragraphs.map((paragraph) => html`<p>${paragraph}</p>`)}
        ${links.map(({ label, url }) => html`<p><a href="${url}">${label}</a></p>`)}
        <p style="color: #666; font-size: 0.85em">${notice}</p>
      </body>
    </html>`;
  return { subject, text: `${text.join("\n\n")}\n`, html: String(page) };
}

function countMore({ length }: readonly AlertMessage[]): string {
  return length === 1 ? "1 more alert" : `${length} more alerts`;
}

/** Describes the newest ones; the dashboard has all of them. */
function describeFurtherAlerts({ furtherAlerts = [], organizationName, pagesUrl }: AlertMailInput): string[] {
  if (furtherAlerts.length === 0) return [];
  const shown = furtherAlerts.slice(-MAX_SHOWN);
  const texts = shown.flatMap(({ alerts }) => describeMessage(alerts, organizationName, pagesUrl).reached);
  const rest = furtherAlerts.length > shown.length ? ` The newest ${shown.length} are below.` : "";
  return [`${countMore(furtherAlerts)} fired since the last email.${rest}`, ...texts];
}
