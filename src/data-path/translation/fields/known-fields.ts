/**
 * Fields that strict caps allow, by protocol: they cannot make a request cost more than its worst case, because their
 * content is parsed, counted by its bytes, or irrelevant to the cost. Most of them add only their content to the
 * prompt; with the others a chat template or the model server may add more, so such prompts teach the token estimate
 * nothing.
 *
 * Two other lists answer other questions: `cost-fields.ts` lists fields that raise the cost or select another model,
 * whatever the caps; `protocols.ts` lists fields that the gateway reads and no body may repeat.
 */
import type { ProtocolName } from "../client-protocol.ts";
import { findCostField } from "../../../shared/contract/cost-fields.ts";
import { CHAT_SEARCH_FIELDS } from "./server-tools.ts";

interface KnownFields {
  /** Fields that add at most their content to the prompt. */
  readonly bounded: readonly string[];
  /** Fields with which more may be added to the prompt. */
  readonly unbounded: readonly string[];
}

const COMMON = ["model", "service_tier", "user", "safety_identifier", "metadata", "store"];

/** Token sampling, as named by OpenAI, vLLM, SGLang, llama.cpp, Ollama and Mistral. */
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

/** Format of the answer and how the server runs the request. */
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

/** The chat template and its inputs. */
const TEMPLATE = [
  "chat_template",
  "chat_template_kwargs",
  "add_generation_prompt",
  "continue_final_message",
  "mm_processor_kwargs",
];

/** Fields with a price of their own. */
const PRICED = ["speed", "inference_geo"];

const KNOWN_FIELDS: Readonly<Record<ProtocolName, KnownFields>> = {
  chat: {
    bounded: [
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
    unbounded: [
      ...TEMPLATE,
      // Unbounded; checked separately in `server-tools.ts`.
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
    bounded: [...COMMON, ...SAMPLING, ...SERVING, "prompt", "suffix", "n", "best_of"],
    unbounded: ["prompt_embeds", "echo"],
  },
  embeddings: {
    bounded: [...COMMON, "input", "messages", "encoding_format", "embed_dtype", "endianness", "dimensions"],
    unbounded: [
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
    bounded: [
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
    unbounded: [
      "output_format",
      // Only edits that remove content; others are unbounded.
      "context_management",
      "container",
      "mcp_servers",
      "diagnostics",
      "chat_template",
      "chat_template_kwargs",
    ],
  },
  responses: {
    bounded: [
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
    unbounded: [
      "top_k",
      "seed",
      "client_metadata",
      // Only passed on if null or false.
      "background",
      "previous_response_id",
      "conversation",
      "prompt",
    ],
  },
};

type Weight = keyof KnownFields;

function listWeights({ bounded, unbounded }: KnownFields): ReadonlyMap<string, Weight> {
  const weights = new Map<string, Weight>(unbounded.map((name) => [name, "unbounded"]));
  for (const name of bounded) weights.set(name, "bounded");
  return weights;
}

const WEIGHTS: Readonly<Record<ProtocolName, ReadonlyMap<string, Weight>>> = {
  chat: listWeights(KNOWN_FIELDS.chat),
  completions: listWeights(KNOWN_FIELDS.completions),
  embeddings: listWeights(KNOWN_FIELDS.embeddings),
  messages: listWeights(KNOWN_FIELDS.messages),
  responses: listWeights(KNOWN_FIELDS.responses),
};

/** Returns whether strict caps allow a field. */
export function isHarmlessField(protocol: ProtocolName, name: string): boolean {
  return WEIGHTS[protocol].has(name);
}

/** Returns whether a field adds at most its content to the prompt. An output limit adds nothing. */
export function isWholeField(protocol: ProtocolName, name: string): boolean {
  return WEIGHTS[protocol].get(name) === "bounded" || findCostField(name)?.kind === "limit";
}
