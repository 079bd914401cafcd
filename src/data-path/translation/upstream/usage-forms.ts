/**
 * Where each figure of a usage stands in what upstreams send. One form for each wire format; within a form the first
 * positive figure of a list counts, since servers that share a format put the same figure in different places.
 * `docs/usage-fields.md` has the table for people; a test holds an example of each.
 */

/** Names from the usage object down. */
export type FigurePath = readonly [string, ...string[]];

export interface UsageForm {
  readonly prompt: FigurePath;
  readonly completion: FigurePath;
  readonly total: readonly FigurePath[];
  readonly cached: readonly FigurePath[];
  /** All that was written to a cache, whatever for how long. */
  readonly cacheWrite: readonly FigurePath[];
  readonly cacheWrite5m: readonly FigurePath[];
  readonly cacheWrite1h: readonly FigurePath[];
  /** Prompt tokens that tools of the server add, told beside `prompt`. */
  readonly toolUsePrompt: readonly FigurePath[];
  readonly inputAudio: readonly FigurePath[];
  /** Audio among the cached tokens. */
  readonly cachedAudio: readonly FigurePath[];
  readonly reasoning: readonly FigurePath[];
  readonly outputAudio: readonly FigurePath[];
  /** Whether `prompt` counts the cached and written tokens too; else they stand beside it. */
  readonly promptIncludesCache: boolean;
}

const CHAT: UsageForm = {
  prompt: ["prompt_tokens"],
  completion: ["completion_tokens"],
  total: [["total_tokens"]],
  cached: [
    // OpenAI, OpenRouter, vLLM, SGLang
    ["prompt_tokens_details", "cached_tokens"],
    // DeepSeek
    ["prompt_cache_hit_tokens"],
    // Moonshot
    ["cached_tokens"],
  ],
  cacheWrite: [
    // OpenAI, OpenRouter
    ["prompt_tokens_details", "cache_write_tokens"],
    // LiteLLM
    ["prompt_tokens_details", "cache_creation_tokens"],
    ["cache_creation_input_tokens"],
  ],
  cacheWrite5m: [
    ["prompt_tokens_details", "cache_creation_token_details", "ephemeral_5m_input_tokens"],
    // Proxies that pass Anthropic's own on
    ["cache_creation", "ephemeral_5m_input_tokens"],
  ],
  cacheWrite1h: [
    ["prompt_tokens_details", "cache_creation_token_details", "ephemeral_1h_input_tokens"],
    ["cache_creation", "ephemeral_1h_input_tokens"],
  ],
  toolUsePrompt: [
    // Gemini, through servers that pass its own figure on
    ["tool_use_prompt_tokens"],
    ["tool_use_prompt_token_count"],
    ["prompt_tokens_details", "tool_use_prompt_tokens"],
    ["prompt_tokens_details", "tool_use_tokens"],
    ["extra_properties", "google", "tool_use_prompt_token_count"],
    ["extra_properties", "google", "toolUsePromptTokenCount"],
  ],
  inputAudio: [["prompt_tokens_details", "audio_tokens"]],
  cachedAudio: [["prompt_tokens_details", "cached_tokens_details", "audio_tokens"]],
  reasoning: [["completion_tokens_details", "reasoning_tokens"]],
  outputAudio: [["completion_tokens_details", "audio_tokens"]],
  promptIncludesCache: true,
};

const RESPONSES: UsageForm = {
  prompt: ["input_tokens"],
  completion: ["output_tokens"],
  total: [["total_tokens"]],
  cached: [["input_tokens_details", "cached_tokens"]],
  cacheWrite: [["input_tokens_details", "cache_write_tokens"]],
  cacheWrite5m: [],
  cacheWrite1h: [],
  toolUsePrompt: [],
  inputAudio: [["input_tokens_details", "audio_tokens"]],
  cachedAudio: [["input_tokens_details", "cached_tokens_details", "audio_tokens"]],
  reasoning: [["output_tokens_details", "reasoning_tokens"]],
  outputAudio: [["output_tokens_details", "audio_tokens"]],
  promptIncludesCache: true,
};

const MESSAGES: UsageForm = {
  prompt: ["input_tokens"],
  completion: ["output_tokens"],
  total: [],
  cached: [["cache_read_input_tokens"]],
  cacheWrite: [["cache_creation_input_tokens"]],
  cacheWrite5m: [["cache_creation", "ephemeral_5m_input_tokens"]],
  cacheWrite1h: [["cache_creation", "ephemeral_1h_input_tokens"]],
  toolUsePrompt: [],
  inputAudio: [],
  cachedAudio: [],
  reasoning: [["output_tokens_details", "thinking_tokens"]],
  outputAudio: [],
  promptIncludesCache: false,
};

/** By wire format. */
export const USAGE_FORMS = { chat: CHAT, responses: RESPONSES, messages: MESSAGES } as const;
