import { findCostField } from "../../translation/fields/cost-fields.ts";
import {
  MAX_TOKENS_FIELDS,
  REASONING_EFFORTS,
  REASONING_HISTORIES,
  THINK_TAGS,
} from "../../translation/client-protocol.ts";
import { choice, choices, described, flag, integer, list, orNull, section, text } from "./fields.ts";

const passthroughField = text("the name of a field of a request's body").refine(
  (name) => findCostField(name) === undefined,
  { error: "this field is never passed: it decides how much is generated, or which model answers" },
);

/** What the upstream can be sent. */
const SUPPORT_FIELDS = {
  max_tokens_field: described(
    orNull(choice(MAX_TOKENS_FIELDS)),
    "Field for the limit of output tokens in chat completions. OpenAI's reasoning models reject `max_tokens`; Ollama and transformers ignore the other.",
    {
      default: "`both`; OpenAI, Azure: `max_completion_tokens`; Google, Mistral: `max_tokens`",
    },
  ),
  passthrough_fields: described(
    list(passthroughField, "names of fields").default([]),
    "Client fields that also pass under strict caps. Only name fields that can't raise costs.",
    { type: "list of field names" },
  ),
  reasoning_efforts: described(
    choices(REASONING_EFFORTS, "reasoning efforts")
      .transform((given) => REASONING_EFFORTS.filter((effort) => given.includes(effort)))
      .optional(),
    "Values of `reasoning_effort` that the upstream knows. In translated requests, others become the nearest lower one, otherwise the lowest; `[]`: the field isn't sent.",
    { default: "all with the capability `reasoning`, otherwise `[]`" },
  ),
  reasoning_history: choice(REASONING_HISTORIES)
    .default("reasoning_content")
    .describe(
      "Field that returns earlier reasoning (newer vLLM: `reasoning`), or `drop`. `reasoning_content_always`: in each assistant message, empty if needed, as DeepSeek requires.",
    ),
  prompt_cache_key: described(
    flag().optional(),
    "Whether the responses route sends `prompt_cache_key` to an upstream of chat completions.",
    { default: "`true` at OpenAI, Azure and Moonshot, otherwise `false`" },
  ),
  think_tags: choice(THINK_TAGS)
    .default("none")
    .describe(
      "Reasoning in the text of responses of servers without a reasoning parser, for the messages and responses routes: in `<think>…</think>` at the start (`tags`), or up to `</think>` (`closing_tag`).",
    ),
  top_k: choice(["forward", "drop"])
    .default("forward")
    .describe("Whether `top_k` is sent; OpenAI rejects it."),
  images: described(flag().optional(), "Whether messages and responses accept images.", {
    default: "capability `vision`",
  }),
  files: described(flag().optional(), "Whether messages and responses accept PDF documents.", {
    default: "capability `vision`",
  }),
  max_stop: described(orNull(integer(1, 1000)), "Maximum of stop sequences (OpenAI: 4).", {
    default: "no limit",
  }),
  tool_name_max: described(
    orNull(integer(16, 1000, "characters")),
    "Longest tool name (OpenAI: 64). Longer names are shortened, and restored in responses.",
    { default: "no limit" },
  ),
};

/** How the upstream wants it written. */
const FORM_FIELDS = {
  system_mid: choice(["fold", "keep"])
    .default("fold")
    .describe("System messages in mid-conversation: folded into the user's turn, or kept."),
  prefill: choice(["plain", "vllm", "refuse"])
    .default("plain")
    .describe("A last assistant message: sent unchanged, with vLLM's `continue_final_message`, or rejected."),
  continuous_usage: flag()
    .default(false)
    .describe("Ask for usage in every chunk (vLLM, SGLang), so that `message_start` is exact."),
  stream_options: choice(["forward", "drop"])
    .default("forward")
    .describe(
      "Whether streams ask for usage, which some servers reject. `drop`: usage is read if it is sent, otherwise estimated, also with `continuous_usage`.",
    ),
  user_field: choice(["user", "safety_identifier", "none"])
    .default("user")
    .transform((value) => (value === "none" ? null : value))
    .describe("Field that carries `metadata.user_id`."),
};

/** `catalog[].profile`: how the upstream wants to be spoken to. */
export function createProfileSchema() {
  return section({ ...SUPPORT_FIELDS, ...FORM_FIELDS });
}
