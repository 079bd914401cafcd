/** Texts of alerts that no threshold fires: forecasts, sudden spend, summaries. */
import { formatOwnerPath } from "../../shared/contract/pages.ts";
import { capitalize } from "../../shared/text/capitalize.ts";
import { DAY_MS } from "../../shared/time/calendar.ts";
import { formatWindowEnd } from "../../shared/time/periods.ts";
import type { AlertRecord } from "../../shared/stored/alerts.ts";
import { type AlertWords, limitNameOf, limitPathOf, nameSubject, nameWindow } from "./alert-names.ts";

/** Formats amounts as the reader's place does. */
export interface AmountFormats {
  readonly limit: (alert: AlertRecord) => string;
  readonly spent: (alert: AlertRecord) => string;
}

/** Describes the alert in one sentence. */
export function describeWatched(alert: AlertRecord, formats: AmountFormats): string {
  const { kind, period, thresholdPercent: percent } = alert;
  const subject = nameSubject(alert);
  const [limit, spent, window] = [formats.limit(alert), formats.spent(alert), nameWindow(alert)];
  if (kind === "summary") {
    return `${capitalize(subject)} has spent ${spent} ${window}, ${limit} the ${period} before.`;
  }
  if (kind === "sudden_spend") {
    return `${capitalize(subject)} has spent ${spent} ${window}: ${percent}% of a usual day, ${limit}.`;
  }
  return `${capitalize(subject)} will spend ${percent}% of its ${limitNameOf(alert)} of ${limit} ${window} at the pace of the last seven days. It has spent ${spent}.`;
}

/** Builds the texts of an email or message. */
export function describeWatchedMessage(
  alert: AlertRecord,
  organization: string,
  pagesUrl: string,
  formats: AmountFormats,
): AlertWords {
  return {
    subject: `[${organization}] ${nameInSubject(alert, formats)}`,
    reached: [describeWatched(alert, formats)],
    meaning: MEANINGS[alert.kind] ?? [],
    links: [{ label: labelLink(alert), url: `${pagesUrl}${watchedPathOf(alert)}` }],
  };
}

function nameInSubject(alert: AlertRecord, { spent }: AmountFormats): string {
  const { kind, thresholdPercent: percent } = alert;
  const subject = nameSubject(alert);
  if (kind === "summary") return `Spend ${nameWindow(alert)}: ${spent(alert)}`;
  if (kind === "sudden_spend") return `Sudden spend: ${percent}% of a usual day by ${subject}`;
  return `Forecast: ${percent}% of the ${limitNameOf(alert)} of ${subject}`;
}

const MEANINGS: Readonly<Partial<Record<AlertRecord["kind"], readonly string[]>>> = {
  budget_forecast: ["Budgets don't block requests; a hard cap would."],
  hard_cap_forecast: [
    "When the cap is reached, requests that cost money return 402. Raise the cap or lower the spend to prevent this.",
  ],
  sudden_spend: [
    "A usual day is the mean of the last seven days. If this spend isn't expected, disable the API key.",
  ],
};

function labelLink({ kind, scope, period }: AlertRecord): string {
  if (kind === "summary") return `See the usage of this ${period}`;
  if (kind === "sudden_spend") {
    return scope === "organization" ? "See the usage of the day" : `See the ${SCOPES[scope]}`;
  }
  return `Change the ${SCOPES[scope]}'s limit`;
}

const SCOPES = { key: "API key", user: "user", group: "group", organization: "organization" } as const;

/** Returns the page of the limit, of the owner, or of the usage. */
export function watchedPathOf(alert: AlertRecord): string {
  const { kind, scope, organizationId, period, windowStart } = alert;
  if (kind !== "summary" && kind !== "sudden_spend") return limitPathOf(alert);
  if (scope !== "organization") return formatOwnerPath(alert);
  const from = windowStart ?? "";
  const end = formatWindowEnd(period, from);
  const to = end === null ? from : new Date(Date.parse(end) - DAY_MS).toISOString().slice(0, from.length);
  return `/organizations/${organizationId}/usage?from=${from}&to=${to}`;
}
