/**
 * Table of request fields that decide how much is generated or which model answers, in the dialects of all
 * servers. A server reads the names that it knows and ignores others, and we cannot know which. So wherever a
 * client's fields reach an upstream, one limit is sent, under the name that the upstream is known to read,
 * and no other field of this table. docs/api.md documents it.
 */

export type CostField =
  /** Name of the output limit: sent under the model's own name for it. */
  | { readonly kind: "limit" }
  /** Number of answers, if the protocol has such a field. */
  | { readonly kind: "choices" }
  /** Optional wish: removed, since the answer is valid without it. */
  | { readonly kind: "dropped" }
  /** Rejected, because the answer would be wrong without it; the message says what to send instead. */
  | { readonly kind: "refused"; readonly instead: string };

const LIMIT = { kind: "limit" } as const;
const CHOICES = { kind: "choices" } as const;
const DROPPED = { kind: "dropped" } as const;
const refused = (instead: string) => ({ kind: "refused", instead }) as const;

const WRITE_N = refused("use `n`");
const NO_NESTING = refused("put its fields next to `model`");
const ONE_MODEL = refused("`model` selects the model server; remove this field");

const COST_FIELDS: Readonly<Record<string, CostField>> = {
  max_tokens: LIMIT,
  max_completion_tokens: LIMIT,
  max_output_tokens: LIMIT,
  // transformers, TGI
  max_new_tokens: LIMIT,
  // llama.cpp
  n_predict: LIMIT,
  // Ollama
  num_predict: LIMIT,
  max_tokens_to_sample: LIMIT,
  max_gen_len: LIMIT,
  max_gen_toks: LIMIT,
  // Includes the prompt, so it has no equivalent.
  max_length: DROPPED,
  n: CHOICES,
  best_of: CHOICES,
  // llama.cpp, transformers, Google, Cohere
  n_cmpl: WRITE_N,
  num_return_sequences: WRITE_N,
  candidate_count: WRITE_N,
  num_generations: WRITE_N,
  num_completions: WRITE_N,
  // transformers, Google, SGLang, TGI, Ollama, LiteLLM
  generation_config: NO_NESTING,
  sampling_params: NO_NESTING,
  parameters: NO_NESTING,
  options: NO_NESTING,
  extra_body: NO_NESTING,
  // OpenRouter, LiteLLM, Anthropic
  models: DROPPED,
  route: DROPPED,
  fallbacks: DROPPED,
  context_window_fallbacks: DROPPED,
  context_window_fallback_dict: DROPPED,
  content_policy_fallbacks: DROPPED,
  // Bedrock, Vertex AI: names of features as in the header, such as a larger context window. Allowed ones
  // come in the header.
  anthropic_beta: DROPPED,
  betas: DROPPED,
  provider: ONE_MODEL,
  preset: ONE_MODEL,
  plugins: ONE_MODEL,
  api_base: ONE_MODEL,
  base_url: ONE_MODEL,
  api_key: ONE_MODEL,
  custom_llm_provider: ONE_MODEL,
  model_list: ONE_MODEL,
  model_id: ONE_MODEL,
  deployment_id: ONE_MODEL,
  specific_deployment: ONE_MODEL,
};

const BY_FOLDED_NAME: ReadonlyMap<string, CostField> = new Map(
  Object.entries(COST_FIELDS).map(([name, field]) => [foldFieldName(name), field]),
);

/**
 * Finds the rule of a field, ignoring case and form: some servers also accept `maxTokens` or `Max_Tokens` for
 * `max_tokens`.
 */
export function findCostField(name: string): CostField | undefined {
  return BY_FOLDED_NAME.get(foldFieldName(name));
}

/** Folds via upper case, so that the long s and the Kelvin sign fold as in case-insensitive JSON readers. */
export function foldFieldName(name: string): string {
  return name.replace(/[_-]/g, "").toUpperCase().toLowerCase();
}
