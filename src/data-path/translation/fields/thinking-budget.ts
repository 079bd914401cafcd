import { isJsonObject, type JsonObject } from "../../../shared/text/json-object.ts";

/**
 * Reads the tokens that a request reserves for thinking, from `thinking` (Anthropic), `reasoning` (OpenRouter) or
 * `chat_template_kwargs` (Qwen); 0 if absent. An output limit must be larger, or the model server rejects the request
 * or answers with thoughts only.
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
