/** Figures of a usage row as texts in Redis. */
import { USAGE_FIGURES } from "../../../shared/usage/figures.ts";
import {
  FIGURES,
  FIGURES_BY_POSITION,
  isAmount,
  type MutableUsageFigures,
  NO_USAGE,
  type UsageFigure,
  type UsageFigures,
} from "../../../shared/usage/usage-figures.ts";
import { formatAmount, formatCount, parseInteger } from "../redis/parse-reply.ts";

/** @throws if the text is not a number. */
export function setFigure(figures: MutableUsageFigures, figure: UsageFigure, text: string): void {
  if (isAmount(figure)) figures[figure] = BigInt(text);
  else figures[figure] = parseInteger(text);
}

/** Parses the figures of a request's record; missing ones are 0. */
export function parseFigures(fields: Readonly<Record<string, string>>): UsageFigures {
  const figures = { ...NO_USAGE };
  for (const figure of FIGURES) setFigure(figures, figure, fields[USAGE_FIGURES[figure].field] ?? "0");
  return figures;
}

/** Formats in the order of Lua's lists. @throws RangeError if a figure is invalid. */
export function formatFigures(figures: UsageFigures): string[] {
  return FIGURES_BY_POSITION.map((figure) =>
    isAmount(figure) ? formatAmount(figures[figure]) : formatCount(figures[figure]),
  );
}
