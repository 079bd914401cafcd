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
    "Field that carries the limit of output tokens in chat completions, whatever a client called it: OpenAI's reasoning models refuse `max_tokens`, Ollama and transformers ignore `max_completion_tokens`.",
    {
      default:
        "`both`; at OpenAI and Azure `max_completion_tokens`, at Google and Mistral `max_tokens`, since these refuse to get both",
    },
  ),
  passthrough_fields: described(
    list(passthroughField, "names of fields").default([]),
    "Fields of clients that pass under strict caps beside those known to be harmless: fields of which you know that they cannot make an answer cost more.",
    { type: "list of names of fields" },
  ),
  reasoning_efforts: described(
    choices(REASONING_EFFORTS, "reasoning efforts")
      .transform((given) => REASONING_EFFORTS.filter((effort) => given.includes(effort)))
      .optional(),
    "Values of `reasoning_effort` that the upstream knows, for requests that are translated; chat completions pass theirs on as it is. Another one becomes the nearest lower, else the " +
      "lowest; with an empty list the field is never sent.",
    { default: "all where `capabilities` has `reasoning`, else none: such models refuse it" },
  ),
  reasoning_history: choice(REASONING_HISTORIES)
    .default("reasoning_content")
    .describe(
      "Field that carries earlier reasoning back (newer vLLM: `reasoning`), or `drop`. With `reasoning_content_always` each message of the assistant has it, if need be empty: DeepSeek rejects a history in which some lack it.",
    ),
  prompt_cache_key: described(
    flag().optional(),
    "Whether the responses route sends the client's `prompt_cache_key` on to an upstream that speaks chat completions.",
    { default: "`true` at OpenAI, Azure and Moonshot, which use it; other providers reject unknown fields" },
  ),
  think_tags: choice(THINK_TAGS)
    .default("none")
    .describe(
      "Where the content of answers has reasoning, for the messages and responses routes: between `<think>` and `</think>` at its beginning (`tags`), or up to `</think>` (`closing_tag`: the chat template writes the opening one). For servers without a parser of reasoning.",
    ),
  top_k: choice(["forward", "drop"])
    .default("forward")
    .describe("Whether `top_k` is sent; OpenAI refuses it."),
  images: described(flag().optional(), "Whether the messages and responses routes take images.", {
    default: "whether `capabilities` has `vision`",
  }),
  files: described(flag().optional(), "Whether the messages and responses routes take PDF documents.", {
    default: "whether `capabilities` has `vision`",
  }),
  max_stop: described(orNull(integer(1, 1000)), "The most stop sequences; OpenAI takes 4.", {
    default: "no limit",
  }),
  tool_name_max: described(
    orNull(integer(16, 1000, "characters")),
    "The longest tool name; OpenAI takes 64. Longer ones are shortened and put back in answers.",
    { default: "no limit" },
  ),
};

/** How the upstream wants it written. */
const FORM_FIELDS = {
  system_mid: choice(["fold", "keep"])
    .default("fold")
    .describe("System messages in mid-conversation: folded into the user's turn, or kept in place."),
  prefill: choice(["plain", "vllm", "refuse"])
    .default("plain")
    .describe(
      "A last message of the assistant: sent as it is, with vLLM's `continue_final_message`, or refused.",
    ),
  continuous_usage: flag()
    .default(false)
    .describe("Asks for usage in every chunk (vLLM, SGLang), so that `message_start` is exact."),
  stream_options: choice(["forward", "drop"])
    .default("forward")
    .describe(
      "Whether usage is asked for in streams (`stream_options`), which some servers refuse. With `drop` it is read where it comes unasked, else estimated; `continuous_usage` does nothing then.",
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
