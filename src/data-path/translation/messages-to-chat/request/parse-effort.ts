import { REASONING_EFFORTS, type ReasoningEffort } from "../../../../shared/contract/model-profile.ts";
import type { JsonObject } from "../../../../shared/text/json-object.ts";
import type { ThinkingDisplay } from "../answer-settings.ts";
import { invalidField, missingField } from "../../json/field-error.ts";
import { readName, readOptionalObject, readOptionalString } from "../../json/read-field.ts";

/** Reasoning settings of a request. */
export interface Thinking {
  /** Null: not set, the model's default applies. */
  readonly effort: ReasoningEffort | null;
  readonly display: ThinkingDisplay;
}

/** Largest thinking budget, in tokens, of each effort. */
const BUDGETS = [
  { maxTokens: 4_096, effort: "low" },
  { maxTokens: 16_384, effort: "medium" },
] as const;

/**
 * Takes the first that is set: `reasoning_effort`, disabled thinking, `output_config.effort`, the thinking budget.
 * `output_config.effort` never causes an error, because Claude Code sends it with every request.
 * @throws GatewayError 400
 */
export function parseThinking(body: JsonObject, outputConfig: JsonObject | null): Thinking {
  const thinking = readOptionalObject(body["thinking"], "thinking");
  const type = thinking === null ? null : readName(thinking["type"], "thinking.type");
  const budgetEffort = type === "enabled" ? mapBudget(thinking?.["budget_tokens"]) : null;
  const effort =
    readExplicitEffort(body["reasoning_effort"]) ??
    (type === "disabled" ? "none" : null) ??
    findEffort(outputConfig?.["effort"]) ??
    budgetEffort;
  return { effort, display: mapDisplay(type, thinking?.["display"]) };
}

function mapDisplay(type: string | null, display: unknown): ThinkingDisplay {
  if (type === "disabled") return "hidden";
  return display === "omitted" ? "omitted" : "shown";
}

/** Reads the gateway's own extension; an unknown value is an error. */
function readExplicitEffort(value: unknown): ReasoningEffort | null {
  const word = readOptionalString(value, "reasoning_effort");
  if (word === null) return null;
  const effort = findEffort(word);
  if (effort === null) {
    const words = REASONING_EFFORTS.map((known) => `'${known}'`).join(", ");
    throw invalidField("reasoning_effort", `Input should be one of ${words}`);
  }
  return effort;
}

function findEffort(value: unknown): ReasoningEffort | null {
  return REASONING_EFFORTS.find((effort) => effort === value) ?? null;
}

/** Does not check the range of the budget, which is only a measure of effort here. */
function mapBudget(budget: unknown): ReasoningEffort {
  const path = "thinking.enabled.budget_tokens";
  if (budget === undefined || budget === null || !Number.isSafeInteger(budget)) throw missingField(path);
  return BUDGETS.find(({ maxTokens }) => (budget as number) <= maxTokens)?.effort ?? "high";
}
