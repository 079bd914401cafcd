/** What a message says, in words: for mails, and for what webhooks show to people. */
import { wholeCents } from "../money.ts";
import { formatLimitPath } from "../pages.ts";
import type { AlertMessage, AlertRecord } from "../store/types/alerts.ts";
import { formatMonthName, formatResetsAt } from "../calendar.ts";

export interface AlertWords {
  /** One line: what is worst. */
  readonly subject: string;
  /** What each subject has reached, a sentence for each. */
  readonly reached: readonly string[];
  /** What it means, and what can be done. */
  readonly meaning: readonly string[];
  /** Where each limit is changed, that of the main alert first. */
  readonly links: readonly AlertLink[];
}

export interface AlertLink {
  readonly label: string;
  readonly url: string;
}

type Alerts = AlertMessage["alerts"];

const CENTS_PER_UNIT = 100;

/**
 * Names are people's own words: whatever they hold, each text is one line.
 * @param pagesUrl Base of the dashboard's pages, without a slash at its end.
 */
export function describeMessage(alerts: Alerts, organizationName: string, pagesUrl: string): AlertWords {
  const organization = cleanName(organizationName);
  const main = mainAlertOf(alerts);
  const limits = [main, ...alerts.filter((alert) => !isOfLimit(alert, main))].filter(isFirstOfLimit);
  return {
    subject: `[${organization}] ${describeMain(main)}`,
    reached: listSubjects(alerts).map((own) => describeReached(own, organization)),
    meaning: explain(alerts, main),
    links: limits.map((alert) => ({ label: linkLabel(alert), url: `${pagesUrl}${limitPathOf(alert)}` })),
  };
}

/** The worst of what fired: a reached cap before a nearly reached one before a budget; the organization's before a key's. */
export function mainAlertOf(alerts: Alerts): AlertRecord {
  return alerts.reduce((worst, alert) => (severityOf(alert) > severityOf(worst) ? alert : worst));
}

function severityOf({ kind, thresholdPercent, scope }: AlertRecord): number {
  return (kind === "hard_cap" ? 1000 : 0) + thresholdPercent + (scope === "organization" ? 0.5 : 0);
}

/** Requests are refused from here on. */
export function isCapReached({ kind, thresholdPercent }: AlertRecord): boolean {
  return kind === "hard_cap" && thresholdPercent >= 100;
}

/** The field of the dashboard in which the amount is changed. */
export function limitPathOf(alert: AlertRecord): string {
  return formatLimitPath(alert, alert.kind);
}

/** A name is in a mail's subject, which is one line, and must look like no address or second header. */
export function cleanName(name: string): string {
  return name.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu, " ").trim();
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

function describeMain(alert: AlertRecord): string {
  const { thresholdPercent, month } = alert;
  const subject = nameSubject(alert);
  return isCapReached(alert)
    ? `Hard cap reached: ${subject} has spent ${formatSpent(alert)} in ${formatMonthName(month)}`
    : `${thresholdPercent}% of the ${formatMonthName(month)} ${nameLimit(alert)} of ${subject} is spent`;
}

/** The alerts of one subject: 'API key "ci" of Acme has spent $45.07 in November 2026: 90% of its … is reached.' */
function describeReached(own: Alerts, organization: string): string {
  const [first] = own;
  const subject = capitalize(nameSubject(first));
  const whose = first.scope === "key" ? ` of ${organization}` : ` ${organization}`;
  const limits = own.filter(isFirstOfLimit).map((limit) => {
    const percents = own.filter((alert) => isOfLimit(alert, limit)).map(nameThreshold);
    return `${percents.join(" and ")} of its monthly ${nameLimit(limit)} of ${formatLimit(limit)}`;
  });
  const verb = own.length === 1 ? "is" : "are";
  return `${subject}${whose} has spent ${formatSpent(first)} in ${formatMonthName(first.month)}: ${limits.join(", ")} ${verb} reached.`;
}

/** What refuses requests before what does not. */
function explain(alerts: Alerts, main: AlertRecord): readonly string[] {
  const end = `${formatResetsAt(main.month).slice(0, "2026-12-01".length)} 00:00 UTC`;
  if (main.kind === "budget") {
    return [
      `A budget refuses nothing: requests go on. A hard cap would stop them. The count begins anew on ${end}.`,
    ];
  }
  return listSubjects(alerts)
    .map(mainAlertOf)
    .filter(({ kind }) => kind === "hard_cap")
    .map((alert) => explainCap(alert, end));
}

function explainCap(alert: AlertRecord, end: string): string {
  const who = alert.scope === "key" ? "this key" : "all keys of the organization";
  if (isCapReached(alert)) {
    return (
      `Requests of ${who} that cost money are refused (402) until ${end}, when the count begins anew. ` +
      `To go on before, raise the cap of ${formatLimit(alert)}.`
    );
  }
  return (
    `At 100%, requests of ${who} that cost money will be refused (402) until ${end}, when the count begins anew. ` +
    `Raise the cap of ${formatLimit(alert)} if that must not happen.`
  );
}

/** The alerts of the key and those of the organization, as far as there are some. */
function listSubjects(alerts: Alerts): readonly Alerts[] {
  return (["key", "organization"] as const).flatMap((scope): readonly Alerts[] => {
    const [first, ...others] = alerts.filter((alert) => alert.scope === scope);
    return first === undefined ? [] : [[first, ...others]];
  });
}

function isFirstOfLimit(alert: AlertRecord, index: number, all: readonly AlertRecord[]): boolean {
  return all.findIndex((other) => isOfLimit(other, alert)) === index;
}

function isOfLimit(alert: AlertRecord, limit: AlertRecord): boolean {
  return alert.scope === limit.scope && alert.kind === limit.kind;
}

function nameSubject({ scope, keyName }: AlertRecord): string {
  return scope === "key" ? `API key "${cleanName(keyName ?? "")}"` : "the organization";
}

function nameLimit({ kind }: AlertRecord): string {
  return kind === "budget" ? "budget" : "hard cap";
}

function nameThreshold({ thresholdPercent }: AlertRecord): string {
  return `${thresholdPercent}%`;
}

function formatSpent({ spentMicrocents, currency }: AlertRecord): string {
  return formatAmount(wholeCents(spentMicrocents), currency);
}

function formatLimit({ amountCents, currency }: AlertRecord): string {
  return formatAmount(amountCents, currency);
}

function linkLabel(alert: AlertRecord): string {
  return `Change the ${alert.scope === "key" ? "key" : "organization"}'s ${nameLimit(alert)}`;
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
