import { findCostField } from "../../contract/cost-fields.ts";
import {
  MAX_TOKENS_FIELDS,
  REASONING_EFFORTS,
  REASONING_HISTORIES,
  THINK_TAGS,
} from "../../contract/model-profile.ts";
import { choice, choices, described, flag, integer, list, orNull, section, text } from "./fields.ts";

const passthroughField = text("the name of a field of a request's body").refine(
  (name) => findCostField(name) === undefined,
  { error: "this field is never passed: it decides how much is generated, or which model answers" },
);

/** Features that the upstream supports. */
const SUPPORT_FIELDS = {
  max_tokens_field: described(
    orNull(choice(MAX_TOKENS_FIELDS)),
    "Field for the output limit in chat completions.",
    {
      default: "`both`; OpenAI, Azure: `max_completion_tokens`; Google, Mistral: `max_tokens`",
    },
  ),
  passthrough_fields: described(
    list(passthroughField, "names of fields").default([]),
    "Client fields that also pass under strict caps; never ones that can raise costs.",
    { type: "list of field names" },
  ),
  reasoning_efforts: described(
    choices(REASONING_EFFORTS, "reasoning efforts")
      .transform((given) => REASONING_EFFORTS.filter((effort) => given.includes(effort)))
      .optional(),
    "Known values of `reasoning_effort`; translation replaces others by the nearest lower one; `[]`: not sent.",
    { default: "all with the capability `reasoning`, otherwise `[]`" },
  ),
  reasoning_history: choice(REASONING_HISTORIES)
    .default("reasoning_content")
    .describe(
      "Field that returns earlier reasoning (newer vLLM: `reasoning`); `…_always`: in each assistant message, for DeepSeek.",
    ),
  prompt_cache_key: described(flag().optional(), "Whether translated responses send `prompt_cache_key`.", {
    default: "`true` at OpenAI, Azure and Moonshot, otherwise `false`",
  }),
  think_tags: choice(THINK_TAGS)
    .default("none")
    .describe(
      "Reasoning within the text, of servers without a parser: in `<think>…</think>`, or only up to `</think>`.",
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
    "Longest tool name (OpenAI: 64); longer ones are shortened, and restored in responses.",
    { default: "no limit" },
  ),
};

/** Forms that the upstream expects. */
const FORM_FIELDS = {
  system_mid: choice(["fold", "keep"])
    .default("fold")
    .describe("Whether later system messages are folded into the user's turn."),
  prefill: choice(["plain", "vllm", "refuse"])
    .default("plain")
    .describe(
      "What happens to a last assistant message: sent, sent with vLLM's `continue_final_message`, or rejected.",
    ),
  continuous_usage: flag()
    .default(false)
    .describe("Whether every chunk has usage (vLLM, SGLang), for an exact `message_start`."),
  stream_options: choice(["forward", "drop"])
    .default("forward")
    .describe(
      "Whether streams ask for usage; `drop`, for servers that reject this, estimates what isn't sent.",
    ),
  user_field: choice(["user", "safety_identifier", "none"])
    .default("user")
    .transform((value) => (value === "none" ? null : value))
    .describe("Field that carries `metadata.user_id`."),
};

/** `catalog[].profile`: peculiarities of the upstream's API. */
export function createProfileSchema() {
  return section({ ...SUPPORT_FIELDS, ...FORM_FIELDS });
}
