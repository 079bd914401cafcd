/** The mail of an alert: what was reached, what it means, what to do. */
import { html } from "hono/html";
import { wholeCents } from "../money.ts";
import type { AlertRecord } from "../store/types/alerts.ts";
import { formatSettingsPath } from "../pages.ts";
import { limitPathOf, monthEndMs } from "./alert-event.ts";

export interface AlertMail {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

export interface AlertMailInput {
  readonly alert: AlertRecord;
  readonly organizationName: string;
  /** Base of the pages, without a slash at its end. */
  readonly pagesUrl: string;
}

const CENTS_PER_UNIT = 100;

/** Names are people's own words: whatever they hold, the mail has the lines that are written here and no others. */
export async function createAlertMail(input: AlertMailInput): Promise<AlertMail> {
  const { subject, paragraphs, link, notice } = describe(input);
  const text = [...paragraphs, `${link.label}:\n${link.url}`, `-- \n${notice}`].join("\n\n");
  const page = await html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <title>${subject}</title>
      </head>
      <body style="font-family: sans-serif; line-height: 1.5; max-width: 40em">
        <h1 style="font-size: 1.2em">${subject}</h1>
        ${paragraphs.map((paragraph) => html`<p>${paragraph}</p>`)}
        <p><a href="${link.url}">${link.label}</a></p>
        <p style="color: #666; font-size: 0.85em">${notice}</p>
      </body>
    </html>`;
  return { subject, text: `${text}\n`, html: String(page) };
}

function describe({ alert, organizationName, pagesUrl }: AlertMailInput) {
  const { thresholdPercent, currency } = alert;
  const organization = cleanName(organizationName);
  const subjectName =
    alert.scope === "key" ? `API key "${cleanName(alert.keyName ?? "")}"` : "the organization";
  const what = alert.kind === "budget" ? "budget" : "hard cap";
  const month = formatMonth(alert.month);
  const isReached = alert.kind === "hard_cap" && thresholdPercent >= 100;
  const spent = formatAmount(wholeCents(alert.spentMicrocents), currency);
  const amount = formatAmount(alert.amountCents, currency);
  const link = { label: linkLabel(alert), url: `${pagesUrl}${limitPathOf(alert)}` };
  return {
    subject: isReached
      ? `[${organization}] Hard cap reached: ${subjectName} has spent ${spent} in ${month}`
      : `[${organization}] ${thresholdPercent}% of the ${month} ${what} of ${subjectName} is spent`,
    paragraphs: [
      `${capitalize(subjectName)}${alert.scope === "key" ? ` of ${organization}` : ` ${organization}`} has spent ${spent} ` +
        `in ${month}: ${thresholdPercent}% of its monthly ${what} of ${amount} is reached.`,
      explain(alert, amount),
    ],
    link,
    notice:
      `This address is in the notification settings of ${organization}, where it can be removed: ` +
      `${pagesUrl}${formatSettingsPath(alert)}\nAlert ${alert.id}.`,
  };
}

function explain(alert: AlertRecord, amount: string): string {
  const end = `${new Date(monthEndMs(alert.month)).toISOString().slice(0, 10)} 00:00 UTC`;
  if (alert.kind === "budget") {
    return `A budget refuses nothing: requests go on. A hard cap would stop them. The count begins anew on ${end}.`;
  }
  const who = alert.scope === "key" ? "this key" : "all keys of the organization";
  if (alert.thresholdPercent >= 100) {
    return (
      `Requests of ${who} that cost money are refused (402) until ${end}, when the count begins anew. ` +
      `To go on before, raise the cap of ${amount}.`
    );
  }
  return (
    `At 100%, requests of ${who} that cost money will be refused (402) until ${end}, when the count begins anew. ` +
    `Raise the cap of ${amount} if that must not happen.`
  );
}

function linkLabel(alert: AlertRecord): string {
  const what = alert.kind === "budget" ? "budget" : "hard cap";
  return alert.scope === "key" ? `Change the key's ${what}` : `Change the organization's ${what}`;
}

/** "$1,234.50", "€46.00", "CHF 12.00" */
function formatAmount(cents: number, currency: string): string {
  const format = new Intl.NumberFormat("en-US", {
    style: "currency",
    currency,
    minimumFractionDigits: 2,
    maximumFractionDigits: 2,
  });
  // At most 9,000,000,000 cents: a double holds them.
  return format.format(cents / CENTS_PER_UNIT);
}

/** "November 2026" */
function formatMonth(month: string): string {
  const format = new Intl.DateTimeFormat("en-US", { month: "long", year: "numeric", timeZone: "UTC" });
  return format.format(new Date(`${month}-01T00:00:00Z`));
}

/** A name is in the subject, which is one line, and must look like no address or second header. */
function cleanName(name: string): string {
  return name.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu, " ").trim();
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
