/** Texts of a message, for emails and webhooks that people read. */
import { wholeCents } from "../../shared/money/money.ts";
import {
  type AlertWords,
  cleanName,
  limitKindOf,
  limitNameOf,
  limitPathOf,
  nameSubject,
  nameWindow,
} from "./alert-names.ts";
import { describeWatchedMessage, watchedPathOf } from "./watch-words.ts";
import { capitalize } from "../../shared/text/capitalize.ts";
import { KIND_WORDS, LIMIT_PERIODS } from "../../shared/settings/limits.ts";
import { LIMIT_SCOPES } from "../../shared/stored/decision.ts";
import type { AlertMessage, AlertRecord } from "../../shared/stored/alerts.ts";
import { formatMonthName } from "../../shared/time/calendar.ts";
import { formatWindowEnd } from "../../shared/time/periods.ts";

type Alerts = AlertMessage["alerts"];

const CENTS_PER_UNIT = 100;

/** Requests that a cap rejects, by scope. */
const SUBJECTS = {
  key: "this key",
  user: "all keys of this user",
  group: "all keys of this group",
  organization: "all keys of the organization",
} as const;

/**
 * Builds the texts. Names come from users: each text stays a single line.
 * @param pagesUrl Base URL of the dashboard's pages, without a final slash.
 */
export function describeMessage(alerts: Alerts, organizationName: string, pagesUrl: string): AlertWords {
  const organization = cleanName(organizationName);
  const main = mainAlertOf(alerts);
  // These are alone in their message.
  if (!isThreshold(main)) {
    return describeWatchedMessage(main, organization, pagesUrl, { limit: formatLimit, spent: formatSpent });
  }
  const limits = [main, ...alerts.filter((alert) => !isOfLimit(alert, main))].filter(isFirstOfLimit);
  return {
    subject: `[${organization}] ${describeMain(main)}`,
    reached: listSubjects(alerts).map((own) => describeReached(own, organization)),
    meaning: explain(alerts, main),
    links: limits.map((alert) => ({ label: linkLabel(alert), url: `${pagesUrl}${limitPathOf(alert)}` })),
  };
}

/** Returns the main alert: a reached cap before a nearly reached one before a budget; then the widest scope. */
export function mainAlertOf(alerts: Alerts): AlertRecord {
  return alerts.reduce((worst, alert) => (severityOf(alert) > severityOf(worst) ? alert : worst));
}

function severityOf({ kind, thresholdPercent, scope }: AlertRecord): number {
  return (
    (kind === "hard_cap" ? 1000 : 0) + thresholdPercent + LIMIT_SCOPES.indexOf(scope) / LIMIT_SCOPES.length
  );
}

/** Returns whether spend has reached a threshold of a limit. */
export function isThreshold({ kind }: Pick<AlertRecord, "kind">): boolean {
  return kind === "budget" || kind === "hard_cap";
}

/** Returns the dashboard's page about the alert. */
export function pathOf(alert: AlertRecord): string {
  return isThreshold(alert) ? limitPathOf(alert) : watchedPathOf(alert);
}

/** Returns whether requests are rejected from now on. */
export function isCapReached({ kind, thresholdPercent }: AlertRecord): boolean {
  return kind === "hard_cap" && thresholdPercent >= 100;
}

/** Formats "$1,234.50", "€46.00", "CHF 12.00". */
export function formatAmount(cents: number, currency: string): string {
  const format = new Intl.NumberFormat("en-US", {
    style: "currency",
    currency,
    minimumFractionDigits: 2,
    maximumFractionDigits: 2,
  });
  // At most 9,000,000,000 cents, which a double represents exactly.
  return format.format(cents / CENTS_PER_UNIT);
}

function describeMain(alert: AlertRecord): string {
  const { thresholdPercent } = alert;
  const subject = nameSubject(alert);
  return isCapReached(alert)
    ? `Hard cap reached: ${subject} has spent ${formatSpent(alert)} ${nameWindow(alert)}`
    : `${thresholdPercent}% of the ${nameLimitOfWindow(alert)} of ${subject} is spent`;
}

/**
 * Describes the alerts of one subject and window: 'API key "ci" of Acme has spent $45.07 in November 2026:
 * 90% of its … is reached.'
 */
function describeReached(own: Alerts, organization: string): string {
  const [first] = own;
  const subject = capitalize(nameSubject(first));
  const ofOrganization = first.scope === "organization" ? ` ${organization}` : ` of ${organization}`;
  const limits = own.filter(isFirstOfLimit).map((limit) => {
    const percents = own.filter((alert) => isOfLimit(alert, limit)).map(nameThreshold);
    return `${percents.join(" and ")} of its ${limitNameOf(limit)} of ${formatLimit(limit)}`;
  });
  const verb = own.length === 1 ? "is" : "are";
  return `${subject}${ofOrganization} has spent ${formatSpent(first)} ${nameWindow(first)}: ${limits.join(", ")} ${verb} reached.`;
}

/** Explains rejecting limits before others. */
function explain(alerts: Alerts, main: AlertRecord): readonly string[] {
  if (main.kind === "budget") {
    const end = nameEnd(main);
    const resetText = end === null ? "" : ` Resets on ${end}.`;
    return [`Budgets don't block requests; a hard cap would.${resetText}`];
  }
  return listSubjects(alerts)
    .map(mainAlertOf)
    .filter(({ kind }) => kind === "hard_cap")
    .map(explainCap);
}

function explainCap(alert: AlertRecord): string {
  const subject = SUBJECTS[alert.scope];
  const end = nameEnd(alert);
  // A cap of 0 rejects requests even after a reset.
  const until = end === null || alert.amountCents === 0 ? "" : ` until the cap resets on ${end}`;
  if (isCapReached(alert)) {
    return (
      `Requests of ${subject} that cost money return 402${until}. ` +
      `To continue${until === "" ? "" : " before"}, raise the cap of ${formatLimit(alert)}.`
    );
  }
  return (
    `At 100%, requests of ${subject} that cost money will return 402${until}. ` +
    `Raise the cap of ${formatLimit(alert)} to prevent this.`
  );
}

/** Groups alerts by owner and window, narrowest scope first. */
function listSubjects(alerts: Alerts): readonly Alerts[] {
  return LIMIT_SCOPES.flatMap((scope) =>
    LIMIT_PERIODS.flatMap((period): readonly Alerts[] => {
      const [first, ...rest] = alerts.filter((alert) => alert.scope === scope && alert.period === period);
      return first === undefined ? [] : [[first, ...rest]];
    }),
  );
}

function isFirstOfLimit(alert: AlertRecord, index: number, all: readonly AlertRecord[]): boolean {
  return all.findIndex((other) => isOfLimit(other, alert)) === index;
}

function isOfLimit(alert: AlertRecord, limit: AlertRecord): boolean {
  return alert.scope === limit.scope && alert.period === limit.period && alert.kind === limit.kind;
}

/** Returns the limit's name with the month: "November 2026 budget". */
function nameLimitOfWindow(alert: AlertRecord): string {
  const { period, windowStart, month } = alert;
  if (period !== "month") return limitNameOf(alert);
  return `${formatMonthName((windowStart ?? month).slice(0, "2026-11".length))} ${KIND_WORDS[limitKindOf(alert)]}`;
}

/** Returns "2026-12-01 00:00 UTC"; null: never. */
function nameEnd({ period, windowStart }: AlertRecord): string | null {
  const end = windowStart === null ? null : formatWindowEnd(period, windowStart);
  return end === null ? null : `${end.slice(0, "2026-12-01".length)} 00:00 UTC`;
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
  return `Change the ${alert.scope}'s ${limitNameOf(alert)}`;
}
