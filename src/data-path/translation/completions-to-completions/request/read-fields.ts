import { type JsonObject } from "../../../../shared/text/json-object.ts";
import { readAskedLimit } from "../../fields/output-limit.ts";
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

/** What the gateway reads of a completion request; everything else is between client and upstream. */
export interface CompletionsFields {
  readonly stream: boolean;
  readonly streamOptions: JsonObject | null;
  readonly prompts: Prompts;
  /** Answers to each prompt that are generated and billed: the larger of `n` and `best_of`. */
  readonly answersPerPrompt: number;
  /** The smallest limit that it gives under any name, or null; 0 asks for nothing but the prompt's figures. */
  readonly maxOutputTokens: number | null;
  /** `n`: answers to each prompt that the client gets. */
  readonly choicesPerPrompt: number;
  /** Characters of each prompt where they stand before the answers (`echo`), else null. */
  readonly echo: readonly number[] | null;
}

/** Those that no body may give in two ways. */
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
    maxOutputTokens: readInteger(value, "max_tokens", { min: 0 }) === 0 ? 0 : readAskedLimit(body),
    echo: readFlag(value, "echo") ? measureEcho(value["prompt"]) : null,
  };
}

/** A server that gets no prompt begins a text of its own. vLLM takes embedded prompts, alone or beside others. */
function readPrompts({ prompt, prompt_embeds: embedded }: JsonObject): Prompts {
  const given = isAbsent(prompt) ? null : measurePrompts(prompt);
  if (!isAbsent(prompt) && given === null) throw invalid("prompt", EXPECTED_PROMPTS, prompt);
  if (isAbsent(embedded)) return given ?? { count: 1, tokens: null, hasMedia: false };
  const count = (given?.count ?? 0) + (Array.isArray(embedded) ? Math.max(1, embedded.length) : 1);
  return { count, tokens: null, hasMedia: true };
}

/** How long the text of token ids is nobody knows here: nothing that it stands in counts as generated. */
function measureEcho(prompt: unknown): number[] {
  const prompts: readonly unknown[] = Array.isArray(prompt) ? prompt : [prompt];
  return prompts.map((one) => (typeof one === "string" ? one.length : Number.POSITIVE_INFINITY));
}
