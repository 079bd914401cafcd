/** What of an answer a request sets aside for thinking. */
import { isJsonObject, type JsonObject } from "../../../shared/text/json-object.ts";

/**
 * Tokens, 0 where it says nothing: of `thinking` (Anthropic), `reasoning` (OpenRouter) and `chat_template_kwargs` (Qwen). A
 * limit of output must be larger, or the model's server refuses it or answers with thoughts alone.
 */
export function readThinkingBudget({
  thinking,
  reasoning,
  chat_template_kwargs: template,
}: JsonObject): number {
  return Math.max(
    tokensAt(thinking, "budget_tokens"),
    tokensAt(reasoning, "max_tokens"),
    tokensAt(template, "thinking_budget"),
  );
}

function tokensAt(value: unknown, name: string): number {
  const tokens = isJsonObject(value) ? value[name] : undefined;
  return typeof tokens === "number" && Number.isSafeInteger(tokens) && tokens > 0 ? tokens : 0;
}
