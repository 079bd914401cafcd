/** The protocols in which an upstream can converse; every conversation can be carried to the first. */
export const UPSTREAM_PROTOCOLS = ["chat", "messages", "responses"] as const;
/** A protocol that an upstream can speak. */
export type UpstreamProtocol = (typeof UPSTREAM_PROTOCOLS)[number] | "embeddings" | "completions";

/** How one model's upstream wants to be spoken to; docs/gateway-yaml.md describes each field. */
export interface ModelProfile {
  /** The names of the limit of output tokens in chat completions. */
  readonly maxTokensField: (typeof MAX_TOKENS_FIELDS)[number];
  /** Fields of clients that pass under strict caps in addition to those that the gateway knows. */
  readonly passthroughFields: readonly string[];
  /** The supported set, in ascending order; empty: never send `reasoning_effort`. */
  readonly reasoningEfforts: readonly ReasoningEffort[];
  /** `reasoning_content_always`: each message of the assistant has the field, if need be empty. */
  readonly reasoningHistory: (typeof REASONING_HISTORIES)[number];
  /** Whether a client's `prompt_cache_key` goes to an upstream that is translated to. */
  readonly promptCacheKey: boolean;
  /**
   * Where an upstream's content has reasoning: `none`, nowhere; `tags`, between `<think>` and `</think>` at its beginning;
   * `closing_tag`, from its beginning up to `</think>`, since the chat template itself opens it.
   */
  readonly thinkTags: (typeof THINK_TAGS)[number];
  readonly topK: "forward" | "drop";
  readonly images: boolean;
  readonly files: boolean;
  /** The most stop sequences that the upstream takes, or null. */
  readonly maxStop: number | null;
  /** The longest tool name that the upstream takes, in characters, or null. */
  readonly toolNameMax: number | null;
  readonly systemMid: "fold" | "keep";
  readonly prefill: "plain" | "vllm" | "refuse";
  readonly continuousUsage: boolean;
  /** Whether usage is asked for in streams; where it is not, it is read from where it comes unasked, or estimated. */
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
