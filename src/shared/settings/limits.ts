/**
 * Limits of spend in a window of a period (`periods.ts`). A cap rejects requests, a budget only alerts. At most one limit
 * of each period and kind. Every limit of an owner is a row of its setting `limits`. `month-limits.ts` has the API's aliases.
 */
import { formatCents, parseCents } from "../money/money.ts";
import { PERIODS, type WindowPeriod } from "../time/periods.ts";

/** From shortest to longest. */
export const LIMIT_PERIODS = Object.keys(PERIODS) as [LimitPeriod, ...LimitPeriod[]];
export type LimitPeriod = WindowPeriod;

/** Own percentages of a limit. */
export const MAX_ALERTS = 5;

export const LIMIT_KINDS = ["cap", "budget"] as const;
export type LimitKind = (typeof LIMIT_KINDS)[number];
/** "weekly hard cap" */
export const KIND_WORDS = { cap: "hard cap", budget: "budget" } as const;

/** A type instead of an interface, so that it is a value of the audit log. */
export type Limit = {
  readonly period: LimitPeriod;
  readonly kind: LimitKind;
  readonly cents: number;
  /** Percentages that alert before 100, in order; omitted: `FIRST_ALERTS`. 100 always alerts. */
  readonly alerts?: readonly number[];
};

/** Default percentage at which a limit's first alert fires; limits of a day alert at 100 only. */
export const FIRST_ALERTS = { cap: 90, budget: 80 } as const;

/** Period and kind, which identify a row of an owner's limits. */
export type LimitName = Pick<Limit, "period" | "kind">;

/** Aliases in the API for the monthly rows of a key and of an organization: see `month-limits.ts`. */
export const MONTH_NAMES = { cap: "hard_cap_cents", budget: "budget_cents" } as const;

/** Part of a sentence for the API documentation. */
export const MONTH_NAMES_TOO = `\`${MONTH_NAMES.cap}\` and \`${MONTH_NAMES.budget}\` are its monthly rows.`;

/** Returns the amount of a row in whole cents, without temporary increases; null for no such row. */
export function centsOf(rows: readonly Limit[], { period, kind }: LimitName): number | null {
  return rows.find((row) => row.period === period && row.kind === kind)?.cents ?? null;
}

/** Sets the amount of a row, which keeps its alerts, or removes the row if the amount is null. */
export function withCents(rows: readonly Limit[], name: LimitName, cents: number | null): readonly Limit[] {
  const rest = withoutRows(rows, [name]);
  const { period, kind } = name;
  const alerts = alertsOf(rows, name);
  return cents === null ? rest : orderLimits([...rest, createLimit({ period, kind, cents }, alerts)]);
}

/** Returns the percentages of a row; undefined: default. */
function alertsOf(rows: readonly Limit[], { period, kind }: LimitName): readonly number[] | undefined {
  return rows.find((row) => row.period === period && row.kind === kind)?.alerts;
}

/** Creates a row. @param alerts Undefined: default. */
export function createLimit(limit: Limit, alerts: readonly number[] | undefined): Limit {
  const { period, kind, cents } = limit;
  const own = alerts?.toSorted((one, other) => one - other);
  return { period, kind, cents, ...(own === undefined ? {} : { alerts: own }) };
}

/** Removes rows. */
export function withoutRows(rows: readonly Limit[], names: readonly LimitName[]): readonly Limit[] {
  return rows.filter((row) => !names.some(({ period, kind }) => row.period === period && row.kind === kind));
}

/** Sorts limits by period and kind. */
export function orderLimits(rows: readonly Limit[]): readonly Limit[] {
  return LIMIT_PERIODS.flatMap((period) =>
    LIMIT_KINDS.flatMap((kind) => rows.filter((row) => row.period === period && row.kind === kind)),
  );
}

/** Formats "day cap 5.00", or with own alerts "day cap 5.00 at 50/75", as on the command line and the dashboard. */
export function formatLimitRows(rows: readonly Limit[]): readonly string[] {
  return rows.map(({ period, kind, cents, alerts }) => {
    const at = alerts === undefined ? "" : ` at ${formatAlerts(alerts)}`;
    return `${period} ${kind} ${formatCents(cents, "").trim()}${at}`;
  });
}

/** Formats "50/75"; "100" if nothing alerts before. */
function formatAlerts(alerts: readonly number[]): string {
  return alerts.length === 0 ? "100" : alerts.join("/");
}

/** Parses the result of `formatAlerts`, also "50, 75 %". @throws RangeError */
export function parseAlerts(text: string): readonly number[] {
  const percents = text.split(/[\s,/%]+/).filter((part) => part !== "");
  if (percents.length === 0 || percents.length > MAX_ALERTS || percents.some((part) => !isPercent(part))) {
    throw new RangeError(
      `"${text}": expected at most ${MAX_ALERTS} percentages from 1 to 100, such as 50/75`,
    );
  }
  return [...new Set(percents.map(Number))].filter((percent) => percent < 100);
}

function isPercent(text: string): boolean {
  return /^(?:[1-9]\d?|100)$/.test(text);
}

/**
 * Parses the result of `formatLimitRows`, separated by commas or line breaks; '' and `none` mean no limits.
 * @throws RangeError naming the wrong row and the expected form.
 */
export function parseLimitList(list: string): readonly Limit[] {
  const rows = list.split(/[,\n]/).map((row) => row.trim());
  if (rows.length === 1 && (rows[0] === "" || rows[0] === "none")) return [];
  return rows
    .filter((row) => row !== "")
    .map((row) => {
      const [limit = "", at] = row.split(/\s+at\s+/);
      const [period, kind, amount = "", ...rest] = limit.split(/\s+/);
      const cents = parseCents(amount);
      const isPeriod = LIMIT_PERIODS.some((known) => known === period);
      const isKind = LIMIT_KINDS.some((known) => known === kind);
      if (!isPeriod || !isKind || cents === null || rest.length > 0) {
        throw new RangeError(
          `"${row}": expected a period (${LIMIT_PERIODS.join(", ")}), cap or budget, and an amount, such as "week cap 20.00"`,
        );
      }
      const named = { period: period as LimitPeriod, kind: kind as LimitKind, cents };
      return createLimit(named, at === undefined ? undefined : parseAlerts(at));
    });
}
