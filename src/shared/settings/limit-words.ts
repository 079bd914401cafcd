/**
 * Texts about limits. Every text about a cap or a budget takes its owner, period and window from here, so
 * that no daily cap is described as monthly, and no amount with another cap. Windows are in UTC.
 */
import { formatOwnerPath, type LimitSubject, type PageOwner } from "../contract/pages.ts";
import { capitalize } from "../text/capitalize.ts";
import { describeWindow, PERIODS } from "../time/periods.ts";
import { KIND_WORDS, type LimitKind, type LimitPeriod } from "./limits.ts";

/** Limit and its owner. */
export interface NamedLimit {
  readonly scope: LimitSubject["scope"];
  /** Owner's name; null: clear from context. */
  readonly name: string | null;
  readonly period: LimitPeriod;
  readonly kind: LimitKind;
}

/** Formatted amounts, and a day of the window, "2026-11-21". */
export interface LimitSpend {
  readonly amount: string;
  readonly spent: string;
  readonly day: string;
}

const SCOPE_WORDS = { key: "API key", user: "user", group: "group", organization: "organization" } as const;
const UNNAMED = {
  key: "this API key",
  user: "this API key's user",
  group: "this API key's group",
  organization: "the organization",
} as const;

/** Returns 'API key "ci"', 'organization "Acme"', "the organization". */
export function nameOwner({ scope, name }: Pick<NamedLimit, "scope" | "name">): string {
  return name === null ? UNNAMED[scope] : `${SCOPE_WORDS[scope]} "${name}"`;
}

/**
 * Returns the path of the field in which a limit is changed: on its owner's page, or in the organization's
 * settings.
 */
export function formatLimitPath(subject: PageOwner): string {
  return `${formatOwnerPath(subject)}#limits`;
}

/** Returns "weekly cap", "total budget", for labels and tables. */
export function labelLimit({ period, kind }: Pick<NamedLimit, "period" | "kind">): string {
  return `${PERIODS[period].adjective} ${kind}`;
}

/** Returns "weekly hard cap", "total budget", for sentences. */
export function nameLimit({ period, kind }: Pick<NamedLimit, "period" | "kind">): string {
  return `${PERIODS[period].adjective} ${KIND_WORDS[kind]}`;
}

/** Returns "50.13 USD spent in November 2026". */
function describeSpent(
  { period }: Pick<NamedLimit, "period">,
  { spent, day }: Omit<LimitSpend, "amount">,
): string {
  return `${spent} spent ${describeWindow(period, day)}`;
}

/** Returns the start of a sentence: 'Weekly hard cap of 50.00 USD for user "Zoë"'. @param amount Null: hidden. */
export function describeLimit(limit: NamedLimit, amount: string | null): string {
  const of = amount === null ? "" : ` of ${amount}`;
  return capitalize(`${nameLimit(limit)}${of} for ${nameOwner(limit)}`);
}

/** Returns 'Weekly hard cap of 50.00 USD for user "Zoë" reached: 50.13 USD spent in the week of 2026-11-23.' */
export function describeReached(limit: NamedLimit, spend: LimitSpend): string {
  return `${describeLimit(limit, spend.amount)} reached: ${describeSpent(limit, spend)}.`;
}

/** Returns the same for a cap that a request's worst case would exceed (strict caps). */
export function describeExceeded(
  cap: NamedLimit,
  { reserved, worst, ...spend }: LimitSpend & { readonly reserved: string; readonly worst: string | null },
): string {
  const request =
    worst === null ? "this request may cost more than the rest" : `this request may cost up to ${worst}`;
  return `${describeLimit(cap, spend.amount)} would be exceeded: ${describeSpent(cap, spend)}, ${reserved} reserved for requests in flight, and ${request}.`;
}
