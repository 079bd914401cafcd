/** Usage figures for Lua: replaces `-- @figures` in scripts, made from the table of figures. */
import { USAGE_FIGURES } from "../../../shared/usage/figures.ts";
import {
  ESTIMATED_FIGURES,
  FIGURES_BY_POSITION,
  LISTED_FIGURES,
  type UsageFigure,
} from "../../../shared/usage/usage-figures.ts";

/** Figures that rules of scripts use. */
const IN_RULES = ["requests", "estimatedRequests", "costMicrocents", "inputTokens"] as const;

const TEXTS: Readonly<Record<string, string>> = {
  "of-rows":
    `local USAGE_FIGURES = { ${FIGURES_BY_POSITION.map((figure) => `'${USAGE_FIGURES[figure].field}'`).join(", ")} }\n` +
    `local ${IN_RULES.map(formatConstant).join(", ")} = ${listPositions(IN_RULES)}\n`,
  "of-requests":
    `local ESTIMATED_POSITIONS = { ${listPositions(ESTIMATED_FIGURES)} }\n` +
    `local LISTED_POSITIONS = { ${listPositions(LISTED_FIGURES)} }\n`,
};

/** Returns the Lua text of this name. @throws Error if there is none. */
export function formatFiguresLua(name: string): string {
  const text = TEXTS[name];
  if (text === undefined) throw new Error(`a script has figures "${name}", which nobody makes`);
  return text;
}

/** Converts "costMicrocents" to "COST_MICROCENTS". */
function formatConstant(figure: UsageFigure): string {
  return figure.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
}

function listPositions(figures: readonly UsageFigure[]): string {
  return figures.map((figure) => USAGE_FIGURES[figure].position).join(", ");
}
