/** Bars. Colors are classes of the style sheet: the security policy allows no inline styles. */
import { MICROCENTS_PER_CENT } from "../../../../shared/money/money.ts";
import { formatLimit, formatMoney } from "../../format.ts";
import { isBudgetReached, shareOf, type Spending, limitLevelOf } from "../limit-words.ts";
import { round } from "./plot.tsx";
import { labelLimit } from "../../../../shared/settings/limit-words.ts";
import type { LimitFiguresView } from "../views.ts";

/** Bar up to the cap (or the budget), with a mark at the budget. */
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
  /** Share of the whole, 0 to 1. */
  readonly share: number;
  readonly level: "fine" | "high" | "full";
  /** Position of a second amount, 0 to 1; null: none. */
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
  /** Share of the whole, 0 to 1. */
  readonly share: number;
  readonly label: string;
}

/** Share of the whole with its figure. */
export function ShareBar({ share, label }: ShareBarProps) {
  const percent = share > 0 && share < 0.01 ? "< 1 %" : `${Math.round(share * 100)} %`;
  return (
    <span class="share">
      <Bar share={share} level="fine" mark={null} label={label} />
      <span class="number">{percent}</span>
    </span>
  );
}

/** Bar of a limit, with a mark at the cap without its increases. */
export function LimitBar({ limit, currency }: { limit: LimitFiguresView; currency: string }) {
  const { cents, raised_cents: raised, spent_cents: spent } = limit;
  const label = `${formatLimit(spent, currency)} of a ${labelLimit(limit)} of ${formatLimit(cents, currency)}`;
  const mark = raised === 0 || cents === 0 ? null : (cents - raised) / cents;
  return <Bar share={shareOf(limit)} level={barLevelOf(limit)} mark={mark} label={label} />;
}

function barLevelOf(limit: LimitFiguresView): "fine" | "high" | "full" {
  const level = limitLevelOf(limit);
  if (level === "fine") return "fine";
  return level === "reached" && limit.kind === "cap" ? "full" : "high";
}
