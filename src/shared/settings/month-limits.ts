/**
 * The month's limits of a key and of an organization, which have settings of their own. What knows these two settings by
 * name is here; others ask by kind: cap or budget.
 */
import { amountOrNull } from "./kinds.ts";
import { type Limit, LIMIT_KINDS, type LimitKind, MONTH_NAMES, orderLimits } from "./limits.ts";

/** What differs between a key's and an organization's. */
interface MonthTexts {
  /** Behind "Monthly hard cap" and "Monthly budget": whose they are. */
  readonly subject: string;
  /** Amounts that the command line's help shows. */
  readonly examples: Readonly<Record<LimitKind, string>>;
}

/** The two rows, in the order of the table. */
export function monthRows({ subject, examples }: MonthTexts) {
  return {
    hardCapCents: {
      apiName: MONTH_NAMES.cap,
      field: MONTH_NAMES.cap,
      kind: amountOrNull(),
      default: null,
      description: `Monthly hard cap${subject}, in whole cents; null: none.`,
      label: "Monthly hard cap",
      hint: "Blocks requests that cost money (402). Empty: no cap.",
      cli: {
        option: {
          flags: "--hard-cap <amount>",
          help: `monthly hard cap${subject}: ${examples.cap}, or none`,
        },
        label: "hard cap",
        column: "HARD CAP",
      },
    },
    budgetCents: {
      apiName: MONTH_NAMES.budget,
      field: MONTH_NAMES.budget,
      kind: amountOrNull(),
      default: null,
      description: `Monthly budget${subject}, in whole cents; alerts only. Null: none.`,
      label: "Monthly budget",
      hint: "Alerts at 80 % and 100 %, blocks nothing. Empty: no budget.",
      cli: {
        option: { flags: "--budget <amount>", help: `monthly budget${subject}: ${examples.budget}, or none` },
        label: "budget",
        column: "BUDGET",
      },
    },
  } as const;
}

/** A record with a month's limits. */
export interface MonthCap {
  readonly hardCapCents: number | null;
}
export interface MonthLimits extends MonthCap {
  readonly budgetCents: number | null;
}

/** All limits of an owner: a key and an organization have those of the month in settings of their own. */
export function limitRowsOf({
  hardCapCents = null,
  budgetCents = null,
  limits = [],
}: Partial<MonthLimits> & { readonly limits?: readonly Limit[] }): readonly Limit[] {
  const ofMonth = { budget: budgetCents, cap: hardCapCents };
  const rows = (["budget", "cap"] as const).flatMap((kind): Limit[] => {
    const cents = ofMonth[kind];
    return cents === null ? [] : [{ period: "month", kind, cents }];
  });
  return [...rows, ...limits];
}

/** Whole cents, without raises; null for none. */
export function monthCapOf({ hardCapCents }: MonthCap): number | null {
  return hardCapCents;
}

/** Whole cents; null for none. */
export function monthBudgetOf({ budgetCents }: Pick<MonthLimits, "budgetCents">): number | null {
  return budgetCents;
}

/** What the API shows of them. */
export interface ShownMonth {
  readonly hard_cap_cents: number | null;
  readonly budget_cents: number | null;
}

/** Whole cents of either kind, as the API shows them; null for none. */
export function shownMonthOf(shown: ShownMonth, kind: LimitKind): number | null {
  return shown[MONTH_NAMES[kind]];
}

/** In the words of the API, in both forms. */
export interface BothForms {
  readonly limits?: readonly Limit[] | undefined;
  readonly hard_cap_cents?: number | null | undefined;
  readonly budget_cents?: number | null | undefined;
}

/** What the API shows: `limits` has the month's, too. */
export function gatherMonth<Described extends Required<BothForms>>(described: Described): Described {
  const { hard_cap_cents: hardCapCents = null, budget_cents: budgetCents = null, limits = [] } = described;
  return { ...described, limits: orderLimits([...limitRowsOf({ hardCapCents, budgetCents, limits })]) };
}

/** The rows that have no other name: those of the month only where they do not stand under their own. */
export function rowsWithoutName(described: BothForms): readonly Limit[] {
  const rows = described.limits ?? [];
  return MONTH_NAMES.cap in described ? rows.filter(({ period }) => period !== "month") : rows;
}

/** Both forms name a limit of the month, with different values. */
export class LimitsConflict extends Error {
  override readonly name = "LimitsConflict";
  readonly field: (typeof MONTH_NAMES)[LimitKind];

  constructor(kind: LimitKind) {
    super(`differs from the month's ${kind} in \`limits\`: expected one of them, or both alike`);
    this.field = MONTH_NAMES[kind];
  }
}

/**
 * What a caller of the API wants, with the month's limits under their own names. `limits` replace the whole list: without a row of
 * the month there is none.
 * @throws LimitsConflict
 */
export function spreadMonth<Wanted extends BothForms>(wanted: Wanted): Wanted {
  const { limits: rows } = wanted;
  if (rows === undefined) return wanted;
  const ofMonth = LIMIT_KINDS.map((kind) => {
    const row = rows.find((one) => one.period === "month" && one.kind === kind);
    const old = wanted[MONTH_NAMES[kind]];
    if (old !== undefined && old !== (row?.cents ?? null)) throw new LimitsConflict(kind);
    return [MONTH_NAMES[kind], row?.cents ?? null];
  });
  const others = rows.filter(({ period }) => period !== "month");
  return { ...wanted, ...Object.fromEntries(ofMonth), limits: others };
}
