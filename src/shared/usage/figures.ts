/**
 * Table of the usage figures, one row each. Everything is derived from it: types of the store, figures of
 * charges and their order in Lua, the request log, exports and tables, schemas and documentation of the
 * management API, names and fallbacks of prices, and labels of metrics. So a figure is only defined in its
 * row and in the parsers of upstream usage (`translation/upstream/usage.ts`, `usage-forms.ts`). Rows are in
 * display order.
 */

/** Figure of a usage row. */
export interface Figure {
  /** Name in the management API, in usage tables and in the request log. */
  readonly apiName: string;
  /** Column in a FOCUS export. */
  readonly focusName: string;
  /** Name in Redis: the field of a request's record, and the suffix of a field of a day's usage. */
  readonly field: string;
  /**
   * Position in each list of figures: in charges, Lua, records, and columns of exports. From 1 without a gap,
   * in order of release: append new figures, never move one.
   */
  readonly position: number;
}

/** Figure that counts tokens. */
export interface TokenFigure extends Figure {
  /** Figure that includes these tokens; null: not a part. No token is in two parts. */
  readonly partOf: string | null;
  /** For parts: description of the tokens, if the name does not say it. */
  readonly about?: string;
  /**
   * For figures that are not parts: description in the documentation of the API, in usage rows and in
   * imported usage.
   */
  readonly describedAs?: { readonly usage?: string; readonly outside: string };
  readonly price: TokenPrice;
}

export interface TokenPrice {
  /** Rate to use if this one is not configured (`rateOf` of its kind); null: required. */
  readonly fallback: string | null;
  /** Description for the reference of `gateway.yaml`. */
  readonly configured: string;
  /** Description for the documentation of API responses. */
  readonly shown: string;
}

/** Figures that count tokens; the keys are the names in code. */
export const TOKEN_FIGURES = {
  /** Prompt tokens without cached ones; both together are the whole prompt. */
  inputTokens: {
    apiName: "input_tokens",
    focusName: "x_InputTokens",
    field: "input",
    position: 2,
    partOf: null,
    describedAs: {
      usage: "Input tokens without cached ones.",
      outside: "All prompts, without cached tokens.",
    },
    price: {
      fallback: null,
      configured: "Prompt tokens.",
      shown: "Per million tokens, a decimal, as every price but `request`.",
    },
  },
  /** Cached prompt tokens, not included in `inputTokens`. */
  cachedInputTokens: {
    apiName: "cached_input_tokens",
    focusName: "x_CachedInputTokens",
    field: "cached",
    position: 3,
    partOf: null,
    describedAs: { outside: "In addition to `input_tokens`; an omitted count is 0." },
    price: {
      fallback: "input",
      configured: "Prompt tokens read from the upstream's cache, audio included.",
      shown: "From the upstream's cache.",
    },
  },
  /** Part of `inputTokens`: written to a cache for 5 minutes, or for an unknown time. */
  cacheWriteTokens: {
    apiName: "cache_write_tokens",
    focusName: "x_CacheWriteTokens",
    field: "cache_write",
    position: 8,
    partOf: "inputTokens",
    about: "written to a cache for 5 minutes",
    price: {
      fallback: "input",
      configured: "Prompt tokens written to the upstream's cache for 5 minutes.",
      shown: "Written to the upstream's cache for 5 minutes.",
    },
  },
  /** Part of `inputTokens`: written to a cache for an hour. */
  cacheWrite1hTokens: {
    apiName: "cache_write_1h_tokens",
    focusName: "x_CacheWrite1hTokens",
    field: "cache_write_1h",
    position: 9,
    partOf: "inputTokens",
    about: "written to a cache for an hour",
    price: {
      fallback: "cacheWrite",
      configured: "Prompt tokens written to the upstream's cache for an hour.",
      shown: "Written to the upstream's cache for an hour.",
    },
  },
  /** Part of `inputTokens`: audio. Cached audio is among the cached tokens. */
  inputAudioTokens: {
    apiName: "input_audio_tokens",
    focusName: "x_InputAudioTokens",
    field: "input_audio",
    position: 10,
    partOf: "inputTokens",
    price: {
      fallback: "input",
      configured: "Audio of the prompt.",
      shown: "Audio of the prompt.",
    },
  },
  /** All generated tokens. */
  outputTokens: {
    apiName: "output_tokens",
    focusName: "x_OutputTokens",
    field: "output",
    position: 4,
    partOf: null,
    describedAs: {
      usage: "Reasoning tokens included.",
      outside: "All responses, with reasoning.",
    },
    price: {
      fallback: null,
      configured: "Generated tokens.",
      shown: "Generated tokens.",
    },
  },
  /** Part of `outputTokens`. */
  reasoningTokens: {
    apiName: "reasoning_tokens",
    focusName: "x_ReasoningTokens",
    field: "reasoning",
    position: 5,
    partOf: "outputTokens",
    price: {
      fallback: "output",
      configured: "Reasoning tokens.",
      shown: "Reasoning tokens.",
    },
  },
  /** Part of `outputTokens`: audio. */
  outputAudioTokens: {
    apiName: "output_audio_tokens",
    focusName: "x_OutputAudioTokens",
    field: "output_audio",
    position: 11,
    partOf: "outputTokens",
    price: {
      fallback: "output",
      configured: "Generated audio.",
      shown: "Generated audio.",
    },
  },
} as const satisfies Readonly<Record<string, TokenFigure>>;

/** All figures of a usage row. Amounts in microcents are bigints in code, the others numbers. */
export const USAGE_FIGURES = {
  /** Requests that went upstream. */
  requests: { apiName: "requests", focusName: "x_Requests", field: "requests", position: 1 },
  ...TOKEN_FIGURES,
  /** Requests with estimated tokens. */
  estimatedRequests: {
    apiName: "estimated_requests",
    focusName: "x_EstimatedRequests",
    field: "estimated",
    position: 6,
  },
  costMicrocents: {
    apiName: "cost_microcents",
    focusName: "x_CostMicrocents",
    field: "microcents",
    position: 7,
  },
  /** Part of the cost for tools that ran at the model server. */
  toolMicrocents: {
    apiName: "server_tool_microcents",
    focusName: "x_ServerToolMicrocents",
    field: "tools",
    position: 12,
  },
} as const satisfies Readonly<Record<string, Figure>>;
