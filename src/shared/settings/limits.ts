/**
 * Limits of spend in a window: `day`, `week` (from Monday), `month`, all in UTC, and `total`, which never
 * ends. A cap rejects requests, a budget only alerts. At most one limit of each period and kind.
 * Monthly limits of keys and organizations came first: they have fields of their own, named in `MONTH_NAMES`,
 * and the stored `limits` are all others. The API returns and accepts both forms (`month-limits.ts`).
 */
import * as z from "zod";
import { formatCents, MAX_CENTS, parseCents } from "../money/money.ts";
import { record, whole } from "./input-schemas.ts";
import type { Kind } from "./setting.ts";

/** From shortest to longest. */
export const LIMIT_PERIODS = ["day", "week", "month", "total"] as const;
export type LimitPeriod = (typeof LIMIT_PERIODS)[number];
/** "weekly cap" */
export const PERIOD_WORDS = { day: "daily", week: "weekly", month: "monthly", total: "total" } as const;

export const LIMIT_KINDS = ["cap", "budget"] as const;
export type LimitKind = (typeof LIMIT_KINDS)[number];

/** A type instead of an interface, so that it is a value of the audit log. */
export type Limit = {
  readonly period: LimitPeriod;
  readonly kind: LimitKind;
  readonly cents: number;
};

/** Names in the API of the settings for monthly limits of a key and of an organization: see `month-limits.ts`. */
export const MONTH_NAMES = { cap: "hard_cap_cents", budget: "budget_cents" } as const;

/** Part of a sentence for the API documentation. */
export const MONTH_NAMES_TOO = `\`${MONTH_NAMES.cap}\` and \`${MONTH_NAMES.budget}\` are its monthly rows.`;

const STORED_ROW = /^(day|week|month|total) (cap|budget) (\d+)$/;
const PERIOD_ERROR = `expected ${LIMIT_PERIODS.slice(0, -1).join(", ")} or total`;
const LIST_ERROR = "expected a list of limits, at most one of each period and kind";

const limitInput = record({
  period: z.enum(LIMIT_PERIODS, { error: PERIOD_ERROR }),
  kind: z.enum(LIMIT_KINDS, { error: "expected cap or budget" }),
  cents: whole(0, MAX_CENTS, "cents"),
});

/** List of limits, sorted by period and kind. */
export function limits(): Kind<readonly Limit[]> {
  const output: z.ZodType<readonly Limit[]> = z.array(
    z.strictObject({ period: z.enum(LIMIT_PERIODS), kind: z.enum(LIMIT_KINDS), cents: z.int() }),
  );
  return {
    notation: "limits",
    values: `a list of \`period\` (${LIMIT_PERIODS.join(", ")}), \`kind\` (${LIMIT_KINDS.join(", ")}) and \`cents\`, at most one of each period and kind`,
    input: z
      .array(limitInput, { error: LIST_ERROR })
      .max(LIMIT_PERIODS.length * LIMIT_KINDS.length, { error: LIST_ERROR })
      .superRefine(refuseTwice)
      .meta({ examples: [[{ period: "week", kind: "cap", cents: 2000 }]] }),
    output,
    stored: output,
    convert: orderLimits,
    describe: (rows) => rows,
    format: formatLimits,
    parse: parseLimits,
  };
}

/** Row `limits` of an owner. */
export const LIMITS_ROW = {
  apiName: "limits",
  field: "limits",
  kind: limits(),
  default: [],
  description: `Hard caps and budgets; ${MONTH_NAMES_TOO} Replaces the whole list.`,
  label: "Limits",
  hint: "A row without an amount is no limit.",
  cli: {
    option: {
      flags: "--limits <list>",
      help: 'all limits, replaces the list: "day cap 5.00, week budget 20", or none',
    },
    label: "limits",
    none: "none",
  },
} as const;

/** Name in the API and in Redis. */
export const MEMBER_LIMITS = "member_limits";

/**
 * Returns that row.
 * @param who.member Members, such as "user of the group"; `help`: the same on the command line.
 */
export function memberLimitsRow({ member, help }: { readonly member: string; readonly help: string }) {
  return {
    apiName: MEMBER_LIMITS,
    field: MEMBER_LIMITS,
    kind: limits(),
    default: [],
    description: `Limits of each ${member}; a user's own limit of that period and kind replaces it. Replaces the whole list.`,
    label: "Limits of each member",
    hint: `For each ${member}. A user's own limit takes precedence.`,
    cli: {
      option: {
        flags: "--member-limits <list>",
        help: `limits of each ${help}: "day cap 5.00, week budget 20", or none`,
      },
      label: "limits of each member",
      none: "none",
    },
  } as const;
}

/** Returns the limits of a user: its own, and the member limits of its group or, without one, of its organization. */
export function limitsOfMember(
  user: { readonly limits: readonly Limit[] },
  { memberLimits }: { readonly memberLimits: readonly Limit[] },
): readonly Limit[] {
  return [...user.limits, ...memberLimits];
}

/** Returns the limits whose windows an owner's settings, or a change of them, need: its own and those of members. */
export function limitsAsked({
  limits: own = [],
  memberLimits = [],
}: {
  readonly limits?: readonly Limit[];
  readonly memberLimits?: readonly Limit[];
}): readonly Limit[] {
  return [...own, ...memberLimits];
}

function refuseTwice(rows: readonly Limit[], context: z.RefinementCtx): void {
  for (const [place, { period, kind }] of rows.entries()) {
    const first = rows.findIndex((row) => row.period === period && row.kind === kind);
    if (first === place) continue;
    const message = `there is another ${period} ${kind}: expected at most one of each period and kind`;
    context.addIssue({ code: "custom", message, path: [place] });
  }
}

/** Sorts limits by period and kind. */
export function orderLimits(rows: readonly Limit[]): readonly Limit[] {
  return LIMIT_PERIODS.flatMap((period) =>
    LIMIT_KINDS.flatMap((kind) => rows.filter((row) => row.period === period && row.kind === kind)),
  );
}

/** Formats "day cap 500,week budget 2000" for scripts in Redis; '' for none. */
function formatLimits(rows: readonly Limit[]): string {
  return rows.map(({ period, kind, cents }) => `${period} ${kind} ${cents}`).join(",");
}

/** @throws TypeError if the text was not written by `formatLimits`. */
function parseLimits(text: string): readonly Limit[] {
  if (text === "") return [];
  return text.split(",").map((row) => {
    const match = STORED_ROW.exec(row);
    if (match === null) throw new TypeError(`"${row}" is no limit`);
    return { period: match[1] as LimitPeriod, kind: match[2] as LimitKind, cents: Number(match[3]) };
  });
}

/** Formats "day cap 5.00" for each, as on the command line and the dashboard. */
export function formatLimitRows(rows: readonly Limit[]): readonly string[] {
  return rows.map(({ period, kind, cents }) => `${period} ${kind} ${formatCents(cents, "").trim()}`);
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
      const [period, kind, amount = "", ...rest] = row.split(/\s+/);
      const cents = parseCents(amount);
      const isPeriod = LIMIT_PERIODS.some((known) => known === period);
      const isKind = LIMIT_KINDS.some((known) => known === kind);
      if (!isPeriod || !isKind || cents === null || rest.length > 0) {
        throw new RangeError(
          `"${row}": expected a period (${LIMIT_PERIODS.join(", ")}), cap or budget, and an amount, such as "week cap 20.00"`,
        );
      }
      return { period: period as LimitPeriod, kind: kind as LimitKind, cents };
    });
}
