/** Bars. Colours are classes of the style sheet: the security policy lets no style in here. */
import { MICROCENTS_PER_CENT } from "../../../../shared/money/money.ts";
import { formatLimit, formatMoney } from "../../format.ts";
import {
  describeStanding,
  formatShare,
  isBudgetReached,
  shareOf,
  type Spending,
  standingOf,
} from "../limit-words.ts";
import { round } from "./plot.tsx";
import { labelLimit } from "../../../../shared/settings/limit-words.ts";
import type { GroupView, LimitFiguresView, UserView } from "../views.ts";
import type { OrganizationPageCall } from "../page.ts";

/** A bar up to the cap (or the budget), a mark at the budget. */
export function SpendBar({ spending, currency }: { spending: Spending; currency: string }) {
  const { spentMicrocents, monthCapCents, monthBudgetCents } = spending;
  const fullCents = monthCapCents ?? monthBudgetCents;
  if (fullCents === null) return <span class="below">no monthly cap or budget</span>;
  const full = Math.max(fullCents * MICROCENTS_PER_CENT, 1);
  const share = Math.min(1, Math.max(0, spentMicrocents / full));
  const isPastBudget = isBudgetReached(spending);
  const level =
    monthCapCents !== null && share >= 1 ? "full" : isPastBudget || share >= 0.9 ? "high" : "fine";
  const mark =
    monthCapCents !== null && monthBudgetCents !== null
      ? Math.min(1, (monthBudgetCents * MICROCENTS_PER_CENT) / full)
      : null;
  const of = labelLimit({ period: "month", kind: monthCapCents === null ? "budget" : "cap" });
  const label = `${formatMoney(spentMicrocents, currency)} of a ${of} of ${formatLimit(fullCents, currency)}`;
  return <Bar share={share} level={level} mark={mark} label={label} />;
}

interface BarProps {
  /** Of the whole, 0 to 1. */
  readonly share: number;
  readonly level: "fine" | "high" | "full";
  /** Where a second amount is, 0 to 1; null: there is none. */
  readonly mark: number | null;
  readonly label: string;
}

function Bar({ share, level, mark, label }: BarProps) {
  return (
    <svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" role="img" aria-label={label}>
      <title>{label}</title>
      <rect class="track" x="0" y="0" width="100" height="8" />
      <rect class={level} x="0" y="0" width={round(Math.min(1, share) * 100)} height="8" />
      {mark === null ? null : <rect class="mark" x={round(mark * 99)} y="0" width="0.7" height="8" />}
    </svg>
  );
}

interface ShareBarProps {
  /** Of the whole, 0 to 1. */
  readonly share: number;
  readonly label: string;
}

/** A share of the whole, with its figure: 38 % is not a full bar. */
export function ShareBar({ share, label }: ShareBarProps) {
  const percent = share > 0 && share < 0.01 ? "< 1 %" : `${Math.round(share * 100)} %`;
  return (
    <span class="share">
      <Bar share={share} level="fine" mark={null} label={label} />
      <span class="number">{percent}</span>
    </span>
  );
}

/** A mark where the cap ends without its raises. */
export function LimitBar({ limit, currency }: { limit: LimitFiguresView; currency: string }) {
  const { cents, raised_cents: raised, spent_cents: spent } = limit;
  const label = `${formatLimit(spent, currency)} of a ${labelLimit(limit)} of ${formatLimit(cents, currency)}`;
  const mark = raised === 0 || cents === 0 ? null : (cents - raised) / cents;
  return <Bar share={shareOf(limit)} level={barLevelOf(limit)} mark={mark} label={label} />;
}

function barLevelOf(limit: LimitFiguresView): "fine" | "high" | "full" {
  const standing = standingOf(limit);
  if (standing === "fine") return "fine";
  return standing === "reached" && limit.kind === "cap" ? "full" : "high";
}

/** What a list of users or groups is to be asked for, so that it has this column. */
export const WITH_TIGHTEST = { include: "tightest_limit" } as const;

type Limited = Pick<UserView | GroupView, "tightest_limit">;

/** A column of a list of users or groups: whose limit is over, and how far the others are. */
export function tightestColumn({ organization: { currency } }: Pick<OrganizationPageCall, "organization">) {
  return {
    label: "tightest limit",
    kind: "wide" as const,
    cell: ({ tightest_limit: limit }: Limited) =>
      limit === null || limit === undefined ? (
        "none"
      ) : (
        <>
          <span class="whole">
            {formatShare(limit)} of the {labelLimit(limit)}
          </span>{" "}
          {standingOf(limit) === "fine" ? null : (
            <span class={`state ${describeStanding(limit).level}`}>{describeStanding(limit).words}</span>
          )}
          <LimitBar limit={limit} currency={currency} />
        </>
      ),
  };
}
