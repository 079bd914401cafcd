/** The figures of a row of usage: what is counted of a day, a key, its owners, a model and a combination of tags. */
import { USAGE_FIGURES } from "./figures.ts";
import { NO_TOKENS, type TokenUsage } from "./token-usage.ts";

type Table = typeof USAGE_FIGURES;

export interface UsageFigures extends TokenUsage {
  readonly requests: number;
  /** Of the requests: those whose tokens are an estimate. */
  readonly estimatedRequests: number;
  readonly costMicrocents: bigint;
  /** What of it is for tools that ran at the model's server. */
  readonly toolMicrocents: bigint;
}

export type UsageFigure = keyof UsageFigures;
/** The figures that are amounts. */
type AmountFigure = "costMicrocents" | "toolMicrocents";
export type MutableUsageFigures = { -readonly [Figure in UsageFigure]: UsageFigures[Figure] };

/** What each is called in the management API and in reports; in the order in which they are shown. */
export const FIGURE_NAMES = Object.fromEntries(
  Object.entries(USAGE_FIGURES).map(([figure, { apiName }]) => [figure, apiName]),
) as { readonly [Figure in UsageFigure]: Table[Figure]["apiName"] };

export const FIGURES = Object.keys(FIGURE_NAMES) as readonly UsageFigure[];

/** In the order of Lua's lists. */
export const FIGURES_BY_POSITION = FIGURES.toSorted(
  (left, right) => USAGE_FIGURES[left].position - USAGE_FIGURES[right].position,
);

/** The figures of an entry in the list of recent requests, which is one request. */
export const LISTED_FIGURES = FIGURES_BY_POSITION.filter((figure) => figure !== "requests");
/** The figures of an estimate of one request. */
export const ESTIMATED_FIGURES = LISTED_FIGURES.filter((figure) => figure !== "estimatedRequests");

/** The figures of a row in which nothing is counted yet. */
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

/** Counts one row's figures in another. */
export function addFigures(sum: MutableUsageFigures, added: UsageFigures): void {
  for (const figure of FIGURES) {
    if (isAmount(figure)) sum[figure] += added[figure];
    else sum[figure] += added[figure];
  }
}
