import { REASONING_EFFORTS, type ReasoningEffort } from "../../../shared/contract/model-profile.ts";

/**
 * Returns the effort if the model supports it, otherwise the nearest lower level, otherwise the lowest. An unsupported
 * level is never an error, because clients send one with every request.
 * @param supported In ascending order; empty: the model has no levels.
 */
export function clampEffort(
  effort: ReasoningEffort,
  supported: readonly ReasoningEffort[],
): ReasoningEffort | undefined {
  const rank = REASONING_EFFORTS.indexOf(effort);
  const atMost = supported.filter((level) => REASONING_EFFORTS.indexOf(level) <= rank);
  return atMost.at(-1) ?? supported[0];
}
