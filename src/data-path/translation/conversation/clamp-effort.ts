import { REASONING_EFFORTS, type ReasoningEffort } from "../../../shared/contract/model-profile.ts";

/**
 * The effort that a model can take: itself, else the nearest lower one, else the lowest. A level that a model does not
 * have is never an error: clients send one with every request.
 * @param supported In ascending order; empty: the model takes none.
 */
export function clampEffort(
  effort: ReasoningEffort,
  supported: readonly ReasoningEffort[],
): ReasoningEffort | undefined {
  const rank = REASONING_EFFORTS.indexOf(effort);
  const atMost = supported.filter((level) => REASONING_EFFORTS.indexOf(level) <= rank);
  return atMost.at(-1) ?? supported[0];
}
