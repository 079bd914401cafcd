/** The figures of a row of usage as Redis has them: texts. */
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

/** @throws when the text is no number. */
export function setFigure(figures: MutableUsageFigures, figure: UsageFigure, text: string): void {
  if (isAmount(figure)) figures[figure] = BigInt(text);
  else figures[figure] = parseInteger(text);
}

/** Those of a request's record; what is not there is 0. */
export function parseFigures(fields: Readonly<Record<string, string>>): UsageFigures {
  const figures = { ...NO_USAGE };
  for (const figure of FIGURES) setFigure(figures, figure, fields[USAGE_FIGURES[figure].field] ?? "0");
  return figures;
}

/** In the order of Lua's lists. @throws RangeError when a figure is none. */
export function formatFigures(figures: UsageFigures): string[] {
  return FIGURES_BY_POSITION.map((figure) =>
    isAmount(figure) ? formatAmount(figures[figure]) : formatCount(figures[figure]),
  );
}
