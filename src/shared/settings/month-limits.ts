/**
 * Published names of the monthly limits of keys and organizations: `hard_cap_cents` and `budget_cents`. Both
 * are aliases of rows of `limits`: the API returns and accepts both forms, and only `limits` is stored.
 */
import type * as z from "zod";
import { amountOrNull } from "./kinds.ts";
import { centsOf, type Limit, LIMIT_KINDS, type LimitKind, type LimitName, MONTH_NAMES } from "./limits.ts";

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
      ...monthRow("cap"),
      description: `Monthly hard cap${subject}, in whole cents; null: none.`,
      label: "Monthly hard cap",
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
      ...monthRow("budget"),
      description: `Monthly budget${subject}, in whole cents; alerts only. Null: none.`,
      label: "Monthly budget",
      cli: {
        option: { flags: "--budget <amount>", help: `monthly budget${subject}: ${examples.budget}, or none` },
        label: "budget",
        column: "BUDGET",
      },
    },
  } as const;
}

/** Common part of a kind's rows. */
export function monthRow<Kind extends LimitKind>(kind: Kind) {
  const aliasOf: LimitName = { period: "month", kind };
  return {
    apiName: MONTH_NAMES[kind],
    aliasOf,
    byMembers: true,
    kind: amountOrNull(),
    default: null,
  } as const;
}

/** Rejects a body with an alias that differs from its row in `limits`, which replaces the whole list. */
export function refuseConflict(
  body: { readonly [Name in (typeof MONTH_NAMES)[LimitKind]]?: unknown } & { readonly limits?: unknown },
  context: z.RefinementCtx,
): void {
  if (body.limits === undefined) return;
  for (const kind of LIMIT_KINDS) {
    const field = MONTH_NAMES[kind];
    const cents = centsOf(body.limits as readonly Limit[], { period: "month", kind });
    if (body[field] === undefined || body[field] === cents) continue;
    const message = `differs from the month's ${kind} in \`limits\`: expected one of them, or both alike`;
    context.addIssue({ code: "custom", message, path: [field] });
  }
}
