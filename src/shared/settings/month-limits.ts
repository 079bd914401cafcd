/**
 * Monthly limits of keys and organizations, which are separate settings. Only this file knows these two
 * settings by name; other code asks by kind: cap or budget.
 */
import { amountOrNull } from "./kinds.ts";
import { type Limit, LIMIT_KINDS, type LimitKind, MONTH_NAMES, orderLimits } from "./limits.ts";

/** Differences between keys and organizations. */
interface MonthTexts {
  /** Text after "Monthly hard cap" and "Monthly budget" that names the owner. */
  readonly subject: string;
  /** Example amounts in the command line's help. */
  readonly examples: Readonly<Record<LimitKind, string>>;
}

/** Returns the two rows, in the order of the table. */
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

/** Record with a monthly cap. */
export interface MonthCap {
  readonly hardCapCents: number | null;
}
export interface MonthLimits extends MonthCap {
  readonly budgetCents: number | null;
}

/** Returns all limits of an owner, including the monthly settings of a key or an organization. */
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

/** Returns whole cents, without temporary increases; null for none. */
export function monthCapOf({ hardCapCents }: MonthCap): number | null {
  return hardCapCents;
}

/** Returns whole cents; null for none. */
export function monthBudgetOf({ budgetCents }: Pick<MonthLimits, "budgetCents">): number | null {
  return budgetCents;
}

/** Monthly limits in API responses. */
export interface ShownMonth {
  readonly hard_cap_cents: number | null;
  readonly budget_cents: number | null;
}

/** Returns whole cents of a kind from an API response; null for none. */
export function shownMonthOf(shown: ShownMonth, kind: LimitKind): number | null {
  return shown[MONTH_NAMES[kind]];
}

/** Monthly limits in both forms, with the API's names. */
export interface BothForms {
  readonly limits?: readonly Limit[] | undefined;
  readonly hard_cap_cents?: number | null | undefined;
  readonly budget_cents?: number | null | undefined;
}

/** Returns the fields of an API response: `limits` also includes the monthly ones. */
export function gatherMonth<Described extends Required<BothForms>>(described: Described): Described {
  const { hard_cap_cents: hardCapCents = null, budget_cents: budgetCents = null, limits = [] } = described;
  return { ...described, limits: orderLimits([...limitRowsOf({ hardCapCents, budgetCents, limits })]) };
}

/** Returns the rows except monthly ones that also have their own field. */
export function rowsWithoutName(described: BothForms): readonly Limit[] {
  const rows = described.limits ?? [];
  return MONTH_NAMES.cap in described ? rows.filter(({ period }) => period !== "month") : rows;
}

/** Thrown if both forms name a monthly limit with different values. */
export class LimitsConflict extends Error {
  override readonly name = "LimitsConflict";
  readonly field: (typeof MONTH_NAMES)[LimitKind];

  constructor(kind: LimitKind) {
    super(`differs from the month's ${kind} in \`limits\`: expected one of them, or both alike`);
    this.field = MONTH_NAMES[kind];
  }
}

/**
 * Converts API input so that monthly limits are in their own fields. `limits` replaces the whole list:
 * without a monthly row there is no monthly limit.
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
