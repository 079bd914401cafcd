import { REASONING_EFFORTS, type ReasoningEffort } from "../../../../shared/contract/model-profile.ts";
import type { JsonObject } from "../../../../shared/text/json-object.ts";
import type { ThinkingDisplay } from "../answer-settings.ts";
import { invalidField, missingField } from "../../json/field-error.ts";
import { readName, readOptionalObject, readOptionalString } from "../../json/read-field.ts";

/** What the request says about reasoning. */
export interface Thinking {
  /** Null: nothing is said, the model's own default applies. */
  readonly effort: ReasoningEffort | null;
  readonly display: ThinkingDisplay;
}

/** Up to how many budget tokens an effort is meant. */
const BUDGETS = [
  { maxTokens: 4_096, effort: "low" },
  { maxTokens: 16_384, effort: "medium" },
] as const;

/**
 * The first that says something: `reasoning_effort`, thinking turned off, `output_config.effort`, the thinking budget.
 * `output_config.effort` never causes an error: Claude Code sends it with every request.
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

/** The extension of this service; a word that it does not know is a mistake worth telling. */
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

/** The range of the budget is not checked: it is a measure of effort here, no limit. */
function mapBudget(budget: unknown): ReasoningEffort {
  const path = "thinking.enabled.budget_tokens";
  if (budget === undefined || budget === null || !Number.isSafeInteger(budget)) throw missingField(path);
  return BUDGETS.find(({ maxTokens }) => (budget as number) <= maxTokens)?.effort ?? "high";
}
