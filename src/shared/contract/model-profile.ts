/** Protocols of conversations that an upstream may speak; every conversation can be translated to the first. */
export const UPSTREAM_PROTOCOLS = ["chat", "messages", "responses"] as const;
/** Protocol that an upstream may speak. */
export type UpstreamProtocol = (typeof UPSTREAM_PROTOCOLS)[number] | "embeddings" | "completions";

/** Peculiarities of one model's upstream; docs/gateway-yaml.md describes each field. */
export interface ModelProfile {
  /** Name of the output limit in chat completions. */
  readonly maxTokensField: (typeof MAX_TOKENS_FIELDS)[number];
  /** Client fields that pass under strict caps in addition to those that the gateway knows. */
  readonly passthroughFields: readonly string[];
  /** Supported values, in ascending order; empty: never send `reasoning_effort`. */
  readonly reasoningEfforts: readonly ReasoningEffort[];
  /** `reasoning_content_always`: each assistant message has the field, possibly empty. */
  readonly reasoningHistory: (typeof REASONING_HISTORIES)[number];
  /** Whether a client's `prompt_cache_key` is sent to an upstream after translation. */
  readonly promptCacheKey: boolean;
  /**
   * Position of reasoning in an upstream's content: `none`, nowhere; `tags`, between `<think>` and `</think>`
   * at the start; `closing_tag`, from the start to `</think>`, because the chat template opens it.
   */
  readonly thinkTags: (typeof THINK_TAGS)[number];
  readonly topK: "forward" | "drop";
  readonly images: boolean;
  readonly files: boolean;
  /** Maximum number of stop sequences, or null. */
  readonly maxStop: number | null;
  /** Maximum length of a tool name in characters, or null. */
  readonly toolNameMax: number | null;
  readonly systemMid: "fold" | "keep";
  readonly prefill: "plain" | "vllm" | "refuse";
  readonly continuousUsage: boolean;
  /** Whether streams request usage; otherwise usage is read if it comes anyway, or estimated. */
  readonly streamOptions: "forward" | "drop";
  readonly userField: "user" | "safety_identifier" | null;
}

export const THINK_TAGS = ["none", "tags", "closing_tag"] as const;

export const REASONING_HISTORIES = [
  "reasoning_content",
  "reasoning_content_always",
  "reasoning",
  "drop",
] as const;

export const MAX_TOKENS_FIELDS = ["max_tokens", "max_completion_tokens", "both"] as const;

export const REASONING_EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
export type ReasoningEffort = (typeof REASONING_EFFORTS)[number];
