/**
 * What is counted of requests: one row a figure. The types of the store, the figures of a charge and their order in Lua,
 * the log of requests, exports and tables, the schemas and documents of the management API, the names and fallbacks of
 * prices and the labels of metrics are made of the rows, so a figure stands in its row, in the reader of what upstreams
 * send (`translation/upstream/usage.ts`, `usage-forms.ts`) and nowhere else. The rows stand in the order in which figures
 * are shown.
 */

/** A figure of a row of usage. */
export interface Figure {
  /** In the management API, in tables of usage and in the log of requests. */
  readonly apiName: string;
  /** The column of an export in the form of FOCUS. */
  readonly focusName: string;
  /** In Redis: the field of a request's record, and the end of a field of a day's usage. */
  readonly field: string;
  /**
   * Where it stands in each list of figures: those of charges, of Lua, of records, and the columns of exports. From 1
   * without a gap, in the order of release: a new figure comes last, and none ever moves.
   */
  readonly position: number;
}

/** A figure of tokens. */
export interface TokenFigure extends Figure {
  /** What its tokens are counted in as well; null: it is a part of nothing. No token is in two parts. */
  readonly partOf: string | null;
  /** Of a part: what its tokens are, where its name does not say it. */
  readonly about?: string;
  /** Of what is no part: what stands for it in the documents of the API, in rows of usage and in usage from outside. */
  readonly describedAs?: { readonly usage?: string; readonly outside: string };
  readonly price: TokenPrice;
}

export interface TokenPrice {
  /** The rate that it is when it is not given (`rateOf` of its kind); null: it has to be given. */
  readonly fallback: string | null;
  /** For the reference of `gateway.yaml`. */
  readonly configured: string;
  /** For the documents of the API's answers. */
  readonly shown: string;
}

/** Figures that are numbers of tokens; the keys are the names in code. */
export const TOKEN_FIGURES = {
  /** Of the prompt, without the cached ones: these two are the whole prompt. */
  inputTokens: {
    apiName: "input_tokens",
    focusName: "x_InputTokens",
    field: "input",
    position: 2,
    partOf: null,
    describedAs: {
      usage: "Input tokens without cached ones.",
      outside: "Of all prompts, without the cached ones.",
    },
    price: {
      fallback: null,
      configured: "Prompt tokens.",
      shown: "Per million tokens, a decimal, as every price but `request`.",
    },
  },
  /** Of the prompt, beside `inputTokens`. */
  cachedInputTokens: {
    apiName: "cached_input_tokens",
    focusName: "x_CachedInputTokens",
    field: "cached",
    position: 3,
    partOf: null,
    describedAs: { outside: "Beside `input_tokens`, as every count that is left out 0." },
    price: {
      fallback: "input",
      configured: "Prompt tokens read from the upstream's cache, audio included.",
      shown: "From the upstream's cache.",
    },
  },
  /** Part of `inputTokens`: written to a cache for 5 minutes, or for a time that the upstream does not tell. */
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
  /** All that was generated. */
  outputTokens: {
    apiName: "output_tokens",
    focusName: "x_OutputTokens",
    field: "output",
    position: 4,
    partOf: null,
    describedAs: {
      usage: "Reasoning tokens included.",
      outside: "Of all answers, with the reasoning ones.",
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

/** All figures of a row of usage. Those of microcents are bigints in code, the others numbers. */
export const USAGE_FIGURES = {
  /** Those that went upstream. */
  requests: { apiName: "requests", focusName: "x_Requests", field: "requests", position: 1 },
  ...TOKEN_FIGURES,
  /** Of the requests: those whose tokens are an estimate. */
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
  /** Of the cost: what is for tools that ran at the model's server. */
  toolMicrocents: {
    apiName: "server_tool_microcents",
    focusName: "x_ServerToolMicrocents",
    field: "tools",
    position: 12,
  },
} as const satisfies Readonly<Record<string, Figure>>;
