import { type JsonObject } from "../../../../shared/text/json-object.ts";
import { readOutputLimit } from "../../fields/output-limit.ts";
import type { JsonBody } from "../../json/parse-body.ts";
import { EXPECTED_PROMPTS, measurePrompts, type Prompts } from "../../openai/prompts.ts";
import {
  invalid,
  isAbsent,
  readFlag,
  readInteger,
  readChoices,
  readStreamOptions,
} from "../../openai/request-fields.ts";

/** Fields of a completion request that the gateway reads. All other fields pass to the upstream unread. */
export interface CompletionsFields {
  readonly stream: boolean;
  readonly streamOptions: JsonObject | null;
  readonly prompts: Prompts;
  /** Answers per prompt that are generated and billed: the larger of `n` and `best_of`. */
  readonly answersPerPrompt: number;
  /** The smallest limit under any of its names, or null; 0 requests only data about the prompt. */
  readonly maxOutputTokens: number | null;
  /** `n`: answers per prompt that the client receives. */
  readonly choicesPerPrompt: number;
  /** Characters of each prompt, if the answers repeat the prompts (`echo`), otherwise null. */
  readonly echo: readonly number[] | null;
}

/** Fields that no body may repeat. */
export const COMPLETIONS_FIELDS: ReadonlySet<string> = new Set([
  "model",
  "prompt",
  "prompt_embeds",
  "stream",
  "stream_options",
  "n",
  "best_of",
  "max_tokens",
  "echo",
]);

/** @throws GatewayError 400 naming the field, what was found and what was expected. */
export function readCompletionsFields(body: JsonBody): CompletionsFields {
  const { value } = body;
  const choicesPerPrompt = readChoices(value, "n");
  return {
    stream: readFlag(value, "stream"),
    streamOptions: readStreamOptions(value),
    prompts: readPrompts(value),
    choicesPerPrompt,
    answersPerPrompt: Math.max(choicesPerPrompt, readChoices(value, "best_of")),
    maxOutputTokens: readInteger(value, "max_tokens", { min: 0 }) === 0 ? 0 : readOutputLimit(body),
    echo: readFlag(value, "echo") ? measureEcho(value["prompt"]) : null,
  };
}

/**
 * Without a prompt the server begins a text of its own. vLLM also accepts embedded prompts, with or without text
 * prompts.
 */
function readPrompts({ prompt, prompt_embeds: embedded }: JsonObject): Prompts {
  const given = isAbsent(prompt) ? null : measurePrompts(prompt);
  if (!isAbsent(prompt) && given === null) throw invalid("prompt", EXPECTED_PROMPTS, prompt);
  if (isAbsent(embedded)) return given ?? { count: 1, tokens: null, hasMedia: false };
  const count = (given?.count ?? 0) + (Array.isArray(embedded) ? Math.max(1, embedded.length) : 1);
  return { count, tokens: null, hasMedia: true };
}

/** The text length of token ids is unknown here, so the whole piece that contains them counts as echo. */
function measureEcho(prompt: unknown): number[] {
  const prompts: readonly unknown[] = Array.isArray(prompt) ? prompt : [prompt];
  return prompts.map((one) => (typeof one === "string" ? one.length : Number.POSITIVE_INFINITY));
}
