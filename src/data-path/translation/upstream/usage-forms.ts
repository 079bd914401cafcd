/**
 * Places of each usage figure in upstream answers, one form per wire format. Of several places the first with a
 * positive figure counts, because servers that share a format use different places. `docs/usage-fields.md` documents
 * the table; a test holds an example of each place.
 */

/** Member names, starting at the usage object. */
export type FigurePath = readonly [string, ...string[]];

export interface UsageForm {
  readonly prompt: FigurePath;
  readonly completion: FigurePath;
  readonly total: readonly FigurePath[];
  readonly cached: readonly FigurePath[];
  /** All tokens written to a cache, regardless of their lifetime. */
  readonly cacheWrite: readonly FigurePath[];
  readonly cacheWrite5m: readonly FigurePath[];
  readonly cacheWrite1h: readonly FigurePath[];
  /** Prompt tokens added by server tools, not included in `prompt`. */
  readonly toolUsePrompt: readonly FigurePath[];
  readonly inputAudio: readonly FigurePath[];
  /** Audio among the cached tokens. */
  readonly cachedAudio: readonly FigurePath[];
  readonly reasoning: readonly FigurePath[];
  readonly outputAudio: readonly FigurePath[];
  /** Whether `prompt` includes cached and written tokens. */
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
    // Proxies that forward Anthropic's field
    ["cache_creation", "ephemeral_5m_input_tokens"],
  ],
  cacheWrite1h: [
    ["prompt_tokens_details", "cache_creation_token_details", "ephemeral_1h_input_tokens"],
    ["cache_creation", "ephemeral_1h_input_tokens"],
  ],
  toolUsePrompt: [
    // Gemini, through servers that forward its figure
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
