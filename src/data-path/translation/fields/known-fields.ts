/**
 * Fields of which is known that they cannot make a request cost more than its worst case says, by protocol: those that
 * pass under strict caps. What stands in them was read, is counted by its bytes, or has no weight. Most of them add nothing
 * to the prompt but what stands in them; with the others a chat template or the model's server may add to it, so nothing
 * is learned from such prompts.
 *
 * Two other lists have names of fields, for other questions: `cost-fields.ts` those that make a request cost more, or
 * another model answer, whatever the caps are; and `protocols.ts` those that the gateway itself reads, which no body may
 * give twice.
 */
import type { ProtocolName } from "../client-protocol.ts";
import { findCostField } from "../../../shared/contract/cost-fields.ts";
import { CHAT_SEARCH_FIELDS } from "./server-tools.ts";

interface KnownFields {
  /** The prompt is what stands in them. */
  readonly whole: readonly string[];
  /** Something may be added. */
  readonly others: readonly string[];
}

const COMMON = ["model", "service_tier", "user", "safety_identifier", "metadata", "store"];

/** How the next token is chosen, in the words of OpenAI, vLLM, SGLang, llama.cpp, Ollama and Mistral. */
const SAMPLING = [
  "temperature",
  "top_p",
  "top_k",
  "min_p",
  "typical_p",
  "top_a",
  "seed",
  "random_seed",
  "frequency_penalty",
  "presence_penalty",
  "repetition_penalty",
  "repeat_penalty",
  "repeat_last_n",
  "logit_bias",
  "logprobs",
  "top_logprobs",
  "prompt_logprobs",
  "n_probs",
  "stop",
  "stop_token_ids",
  "stop_regex",
  "include_stop_str_in_output",
  "no_stop_trim",
  "min_tokens",
  "ignore_eos",
  "bad_words",
  "allowed_token_ids",
  "skip_special_tokens",
  "spaces_between_special_tokens",
  "add_special_tokens",
  "return_tokens_as_token_ids",
  "return_token_ids",
  "truncate_prompt_tokens",
];

/** What form the answer has, and how a server goes about it. */
const SERVING = [
  "stream",
  "stream_options",
  "response_format",
  "guided_json",
  "guided_regex",
  "guided_choice",
  "guided_grammar",
  "structured_outputs",
  "regex",
  "ebnf",
  "grammar",
  "json_schema",
  "cache_prompt",
  "cache_salt",
  "keep_alive",
  "priority",
  "request_id",
  "prompt_cache_key",
  "prompt_cache_retention",
  "prompt_cache_options",
];

/** What a chat template is, or is given. */
const TEMPLATE = [
  "chat_template",
  "chat_template_kwargs",
  "add_generation_prompt",
  "continue_final_message",
  "mm_processor_kwargs",
];

/** What they may cost is said of them by itself. */
const PRICED = ["speed", "inference_geo"];

const KNOWN_FIELDS: Readonly<Record<ProtocolName, KnownFields>> = {
  chat: {
    whole: [
      ...COMMON,
      ...SAMPLING,
      ...SERVING,
      ...PRICED,
      "messages",
      "n",
      "best_of",
      "tools",
      "tool_choice",
      "parallel_tool_calls",
      "functions",
      "function_call",
      "reasoning_effort",
      "verbosity",
    ],
    others: [
      ...TEMPLATE,
      // They have no bound, which is said of them by itself.
      ...CHAT_SEARCH_FIELDS,
      "reasoning",
      "include_reasoning",
      "reasoning_format",
      "thinking",
      "enable_thinking",
      "prediction",
      "modalities",
      "audio",
      "safe_prompt",
      "documents",
      "echo",
    ],
  },
  completions: {
    whole: [...COMMON, ...SAMPLING, ...SERVING, "prompt", "suffix", "n", "best_of"],
    others: ["prompt_embeds", "echo"],
  },
  embeddings: {
    whole: [...COMMON, "input", "messages", "encoding_format", "embed_dtype", "endianness", "dimensions"],
    others: [
      ...TEMPLATE,
      "input_type",
      "task",
      "normalize",
      "truncate",
      "truncate_prompt_tokens",
      "add_special_tokens",
      "priority",
      "request_id",
      "cache_salt",
    ],
  },
  messages: {
    whole: [
      ...PRICED,
      "model",
      "messages",
      "system",
      "stream",
      "temperature",
      "top_p",
      "top_k",
      "stop_sequences",
      "tools",
      "tool_choice",
      "thinking",
      "metadata",
      "service_tier",
      "output_config",
      "cache_control",
    ],
    others: [
      "output_format",
      // Edits that take something away; others have no bound.
      "context_management",
      "container",
      "mcp_servers",
      "diagnostics",
      "chat_template",
      "chat_template_kwargs",
    ],
  },
  responses: {
    whole: [
      ...COMMON,
      "input",
      "instructions",
      "stream",
      "stream_options",
      "temperature",
      "top_p",
      "top_logprobs",
      "tools",
      "tool_choice",
      "parallel_tool_calls",
      "max_tool_calls",
      "text",
      "reasoning",
      "include",
      "truncation",
      "prompt_cache_key",
      "prompt_cache_retention",
      "prompt_cache_options",
    ],
    others: [
      "top_k",
      "seed",
      "client_metadata",
      // Null and false alone are passed on.
      "background",
      "previous_response_id",
      "conversation",
      "prompt",
    ],
  },
};

type Weight = keyof KnownFields;

function listWeights({ whole, others }: KnownFields): ReadonlyMap<string, Weight> {
  const weights = new Map<string, Weight>(others.map((name) => [name, "others"]));
  for (const name of whole) weights.set(name, "whole");
  return weights;
}

const WEIGHTS: Readonly<Record<ProtocolName, ReadonlyMap<string, Weight>>> = {
  chat: listWeights(KNOWN_FIELDS.chat),
  completions: listWeights(KNOWN_FIELDS.completions),
  embeddings: listWeights(KNOWN_FIELDS.embeddings),
  messages: listWeights(KNOWN_FIELDS.messages),
  responses: listWeights(KNOWN_FIELDS.responses),
};

/** Whether a field passes under strict caps. */
export function isHarmlessField(protocol: ProtocolName, name: string): boolean {
  return WEIGHTS[protocol].has(name);
}

/** Whether a field adds nothing to the prompt but what stands in it; a limit adds nothing at all. */
export function isWholeField(protocol: ProtocolName, name: string): boolean {
  return WEIGHTS[protocol].get(name) === "whole" || findCostField(name)?.kind === "limit";
}
