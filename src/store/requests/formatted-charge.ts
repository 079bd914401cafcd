import { formatAmount, formatCount } from "../redis/parse-reply.ts";
import type { ChargeInput } from "../types/settlement.ts";
import { formatChargedEntry } from "./recent-entry.ts";

/** A charge with what its script takes of it. */
export interface FormattedCharge {
  readonly input: ChargeInput;
  /** Texts in the order of USAGE_FIGURES in `lua/include/spend.lua`. */
  readonly figures: readonly string[];
  /** For the list of recent requests; '' before the final charge. */
  readonly entry: string;
}

/** @throws RangeError when a figure is none. */
export function formatCharge(input: ChargeInput): FormattedCharge {
  const { requests, tokens, estimated, totalMicrocents } = input;
  const figures = [
    String(requests),
    formatCount(tokens.input),
    formatCount(tokens.cachedInput),
    formatCount(tokens.output),
    formatCount(tokens.reasoning),
    estimated ? "1" : "0",
    formatAmount(totalMicrocents),
    ...formatFurther(input),
  ];
  return { input, figures, entry: formatChargedEntry(input) };
}

/** Those that schema 1 does not know. */
export function formatFurther({
  tokens,
  toolMicrocents = 0n,
}: Pick<ChargeInput, "tokens" | "toolMicrocents">): string[] {
  const { cacheWrite, cacheWrite1h, inputAudio, outputAudio } = tokens;
  const counts = [cacheWrite, cacheWrite1h, inputAudio, outputAudio].map((count) => formatCount(count ?? 0));
  return [...counts, formatAmount(toolMicrocents)];
}
