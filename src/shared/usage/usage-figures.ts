/** Figures of a usage row: counts of a day, key, its owners, model and tag combination. */
import { USAGE_FIGURES } from "./figures.ts";
import { NO_TOKENS, type TokenUsage } from "./token-usage.ts";

type Table = typeof USAGE_FIGURES;

export interface UsageFigures extends TokenUsage {
  readonly requests: number;
  /** Requests with estimated tokens. */
  readonly estimatedRequests: number;
  readonly costMicrocents: bigint;
  /** Part of the cost for tools that ran at the model server. */
  readonly toolMicrocents: bigint;
}

export type UsageFigure = keyof UsageFigures;
/** Figures that are amounts of money. */
type AmountFigure = "costMicrocents" | "toolMicrocents";
export type MutableUsageFigures = { -readonly [Figure in UsageFigure]: UsageFigures[Figure] };

/** Names in the management API and in reports, in display order. */
export const FIGURE_NAMES = Object.fromEntries(
  Object.entries(USAGE_FIGURES).map(([figure, { apiName }]) => [figure, apiName]),
) as { readonly [Figure in UsageFigure]: Table[Figure]["apiName"] };

export const FIGURES = Object.keys(FIGURE_NAMES) as readonly UsageFigure[];

/** Figures in the order of Lua's lists. */
export const FIGURES_BY_POSITION = FIGURES.toSorted(
  (left, right) => USAGE_FIGURES[left].position - USAGE_FIGURES[right].position,
);

/** Figures of an entry in the list of recent requests, which is one request. */
export const LISTED_FIGURES = FIGURES_BY_POSITION.filter((figure) => figure !== "requests");
/** Figures of an estimate of one request. */
export const ESTIMATED_FIGURES = LISTED_FIGURES.filter((figure) => figure !== "estimatedRequests");

/** Figures of an empty row. */
export const NO_USAGE: UsageFigures = {
  requests: 0,
  ...NO_TOKENS,
  estimatedRequests: 0,
  costMicrocents: 0n,
  toolMicrocents: 0n,
};

export function isAmount(figure: UsageFigure): figure is AmountFigure {
  return typeof NO_USAGE[figure] === "bigint";
}

export type UsageAmounts = Pick<UsageFigures, AmountFigure>;

const AMOUNTS = FIGURES.filter(isAmount);

/** Builds the amounts from a function of each. */
export function mapAmounts(amountOf: (figure: AmountFigure) => bigint): UsageAmounts {
  return Object.fromEntries(AMOUNTS.map((figure) => [figure, amountOf(figure)])) as unknown as UsageAmounts;
}

/** Adds one row's figures to another. */
export function addFigures(sum: MutableUsageFigures, added: UsageFigures): void {
  for (const figure of FIGURES) {
    if (isAmount(figure)) sum[figure] += added[figure];
    else sum[figure] += added[figure];
  }
}
