import { TOKEN_FIGURES } from "../../../shared/usage/figures.ts";
import type { TokenKind } from "../../../shared/usage/token-usage.ts";
import {
  ESTIMATED_FIGURES,
  FIGURES_BY_POSITION,
  type UsageFigure,
} from "../../../shared/usage/usage-figures.ts";
import { formatAmount, formatCount } from "../redis/parse-reply.ts";
import type { ChargeInput, RequestEstimate } from "../../../shared/stored/settlement.ts";
import { formatChargedEntry } from "./recent-entry.ts";

/** Charge with the arguments that its script needs. */
export interface FormattedCharge {
  readonly input: ChargeInput;
  /** Texts in the order of Lua's lists of figures. */
  readonly figures: readonly string[];
  /** Entry for the list of recent requests; '' before the final charge. */
  readonly entry: string;
}

/** Totals that charges and estimates share. */
type Totals = Pick<ChargeInput, "totalMicrocents" | "toolMicrocents" | "tokens"> &
  Partial<Pick<ChargeInput, "requests" | "estimated">>;
type Format = (totals: Totals) => string;

/** Formats of the figures that are not token counts. */
const FORMATS: Readonly<Record<Exclude<UsageFigure, TokenKind>, Format>> = {
  requests: ({ requests = 0 }) => String(requests),
  estimatedRequests: ({ estimated = false }) => (estimated ? "1" : "0"),
  costMicrocents: ({ totalMicrocents }) => formatAmount(totalMicrocents),
  toolMicrocents: ({ toolMicrocents = 0n }) => formatAmount(toolMicrocents),
};

const OF_CHARGE = FIGURES_BY_POSITION.map(formatOf);
const OF_ESTIMATE = ESTIMATED_FIGURES.map(formatOf);

function formatOf(figure: UsageFigure): Format {
  return isTokenKind(figure) ? ({ tokens }) => formatCount(tokens[figure]) : FORMATS[figure];
}

function isTokenKind(figure: UsageFigure): figure is TokenKind {
  return figure in TOKEN_FIGURES;
}

/**
 * Formats a charge.
 * @throws RangeError if a figure is invalid.
 */
export function formatCharge(input: ChargeInput): FormattedCharge {
  const figures = OF_CHARGE.map((format) => format(input));
  return { input, figures, entry: formatChargedEntry(input, figures) };
}

/** Formats an estimate for the record: the figures of `ESTIMATED_FIGURES` as one text. */
export function formatEstimate(estimate: RequestEstimate | null): string {
  return estimate === null ? "" : OF_ESTIMATE.map((format) => format(estimate)).join(" ");
}
