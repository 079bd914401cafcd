/** What an explanation is made of and what it is, in the shapes that the management API answers with. */
import type * as z from "zod";
import { LIMIT_PERIODS, type LimitPeriod } from "../../../shared/settings/limits.ts";
import type { explainedRequest } from "../schemas/requests.ts";
import type { TOKEN_NAMES, TokenKind } from "../../../shared/usage/token-usage.ts";

type Shown = z.output<typeof explainedRequest>;

export type Explanation = Shown["explanation"];

export type ExplainedRequest = Readonly<
  Pick<
    Shown,
    | (typeof TOKEN_NAMES)[TokenKind]
    | "organization_id"
    | "key_id"
    | "key_deleted"
    | "user_id"
    | "user_deleted"
    | "group_id"
    | "group_deleted"
    | "created_at"
    | "status"
    | "error_code"
    | "estimated"
    | "cost_microcents"
    | "duration_ms"
    | "upstream"
    | "checks"
  >
>;

export type Figures = ExplainedRequest["checks"][number]["figures"];

/** The figures of the check that refused it, or null. */
export function failedCheckOf(
  request: Pick<ExplainedRequest, "checks">,
): ExplainedRequest["checks"][number] | null {
  return request.checks.find((check) => !check.passed) ?? null;
}

/** The period of the cap that a check compares; checks of a month's cap do not name it. */
export function periodOf({ period }: Figures): LimitPeriod {
  return LIMIT_PERIODS.find((known) => known === period) ?? "month";
}

/** Microcents of an amount that figures have in either unit; null for none. */
export function microcentsOf(figures: Figures, name: string): number | null {
  const microcents = figures[`${name}_microcents`];
  if (microcents !== undefined && microcents !== null) return Number(microcents);
  const cents = figures[`${name}_cents`];
  return typeof cents === "number" ? cents * 1_000_000 : null;
}
