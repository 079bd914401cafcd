/** Settings that are lists of limits: an owner's own, and those of each member. */
import * as z from "zod";
import { MAX_CENTS } from "../money/money.ts";
import { record, whole } from "./input-schemas.ts";
import {
  createLimit,
  type Limit,
  LIMIT_KINDS,
  LIMIT_PERIODS,
  type LimitKind,
  type LimitPeriod,
  MAX_ALERTS,
  MONTH_NAMES_TOO,
  orderLimits,
} from "./limits.ts";
import type { Kind } from "./setting.ts";

/** Name of the row with the limits of each member, in the API and in Redis. */
export const MEMBER_LIMITS = "member_limits";

const STORED_ROW = new RegExp(
  `^(${LIMIT_PERIODS.join("|")}) (${LIMIT_KINDS.join("|")}) (\\d+)(?:@([\\d/]*))?$`,
);
const PERIOD_ERROR = `expected ${LIMIT_PERIODS.slice(0, -1).join(", ")} or ${LIMIT_PERIODS.at(-1)}`;
const LIST_ERROR = "expected a list of limits, at most one of each period and kind";

const ALERTS_ERROR = `expected at most ${MAX_ALERTS} percentages from 1 to 99, none twice`;
const ALERTS_DESCRIPTION =
  "Percentages of the limit that alert before 100. Default: 90 of a cap, 80 of a budget, none for `day`. 100 always alerts.";

const limitInput = record({
  period: z.enum(LIMIT_PERIODS, { error: PERIOD_ERROR }),
  kind: z.enum(LIMIT_KINDS, { error: "expected cap or budget" }),
  cents: whole(0, MAX_CENTS, "cents"),
  alerts: z
    .array(z.int({ error: ALERTS_ERROR }).min(1, { error: ALERTS_ERROR }).max(99, { error: ALERTS_ERROR }), {
      error: ALERTS_ERROR,
    })
    .max(MAX_ALERTS, { error: ALERTS_ERROR })
    .refine((alerts) => new Set(alerts).size === alerts.length, { error: ALERTS_ERROR })
    .exactOptional()
    .describe(ALERTS_DESCRIPTION),
});

/** List of limits, sorted by period and kind. */
export function limits(): Kind<readonly Limit[]> {
  const output: z.ZodType<readonly Limit[]> = z.array(
    z.strictObject({
      period: z.enum(LIMIT_PERIODS),
      kind: z.enum(LIMIT_KINDS),
      cents: z.int(),
      alerts: z.array(z.int()).readonly().exactOptional().describe(ALERTS_DESCRIPTION),
    }),
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
    convert: (rows) => orderLimits(rows.map((row) => createLimit(row, row.alerts))),
    describe: (rows) => rows,
    format: formatLimits,
    parse: parseLimits,
  };
}

/** Row `limits` of an owner. */
export const LIMITS_ROW = {
  apiName: "limits",
  field: "limits",
  byMembers: true,
  kind: limits(),
  default: [],
  description: `Hard caps and budgets; ${MONTH_NAMES_TOO} Replaces the whole list.`,
  label: "Limits",
  hint: "A hard cap blocks requests that cost money (402), a budget only alerts. No amount: no limit.",
  cli: {
    option: {
      flags: "--limits <list>",
      help: 'all limits, replaces the list: "day cap 5.00, week budget 20", or none',
    },
    label: "limits",
    none: "none",
  },
} as const;

/**
 * Returns the row with the limits of each member.
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
export function listNeededLimits({
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

/**
 * Formats "week budget 2000,day cap 500@50/75" for scripts in Redis; '' for none. Budgets are first: what fires in one
 * step fires in this order.
 */
function formatLimits(rows: readonly Limit[]): string {
  const budgetsFirst = LIMIT_KINDS.toReversed().flatMap((kind) => rows.filter((row) => row.kind === kind));
  return budgetsFirst
    .map(({ period, kind, cents, alerts }) => {
      const own = alerts === undefined ? "" : `@${alerts.join("/")}`;
      return `${period} ${kind} ${cents}${own}`;
    })
    .join(",");
}

/** @throws TypeError if the text was not written by `formatLimits`. */
function parseLimits(text: string): readonly Limit[] {
  if (text === "") return [];
  const rows = text.split(",").map((row) => {
    const match = STORED_ROW.exec(row);
    if (match === null) throw new TypeError(`"${row}" is no limit`);
    const [, period, kind, cents, own] = match;
    const limit = { period: period as LimitPeriod, kind: kind as LimitKind, cents: Number(cents) };
    return createLimit(limit, own?.split("/").filter(Boolean).map(Number));
  });
  return orderLimits(rows);
}
