/** Names of an alert's subject, limit and window, and the path of its limit. */
import type { AlertRecord } from "../../shared/stored/alerts.ts";
import { formatLimitPath, nameLimit, nameOwner } from "../../shared/settings/limit-words.ts";
import type { LimitKind } from "../../shared/settings/limits.ts";
import { describeWindow } from "../../shared/time/periods.ts";

export interface AlertWords {
  /** One line about the main alert. */
  readonly subject: string;
  /** One sentence per subject about what it reached. */
  readonly reached: readonly string[];
  /** Meaning, and what to do. */
  readonly meaning: readonly string[];
  /** Links to each limit's setting, starting with the main alert's. */
  readonly links: readonly AlertLink[];
}

export interface AlertLink {
  readonly label: string;
  readonly url: string;
}

/** Returns the field of the dashboard in which the amount is changed. */
export function limitPathOf(alert: AlertRecord): string {
  return formatLimitPath(alert);
}

/** Cleans a name for an email's subject, which is one line and must not resemble an address or a second header. */
export function cleanName(name: string): string {
  return name.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu, " ").trim();
}

/** Returns 'API key "ci"', 'user "Zoë"', "the organization". */
export function nameSubject({ scope, keyName, ownerName }: AlertRecord): string {
  const name = scope === "organization" ? null : cleanName((scope === "key" ? keyName : ownerName) ?? "");
  return nameOwner({ scope, name });
}

/** Returns "in November 2026". */
export function nameWindow({ period, windowStart, month }: AlertRecord): string {
  return describeWindow(period, windowStart ?? `${month}-01`);
}

/** Returns "monthly budget", "weekly hard cap". */
export function limitNameOf(alert: Pick<AlertRecord, "period" | "kind">): string {
  return nameLimit({ period: alert.period, kind: limitKindOf(alert) });
}

/** Returns the kind of limit; alerts use the published word for a cap. */
export function limitKindOf({ kind }: Pick<AlertRecord, "kind">): LimitKind {
  return kind === "budget" || kind === "budget_forecast" ? "budget" : "cap";
}

/** Returns the limit that an alert is about; null: sudden spend and summaries have none. */
export function findLimitKind(alert: Pick<AlertRecord, "kind">): LimitKind | null {
  return alert.kind === "sudden_spend" || alert.kind === "summary" ? null : limitKindOf(alert);
}
