/**
 * Token limits per minute of keys, users, groups and organizations. The rule is in
 * `store/lua/include/token-buckets.lua`.
 */
import { wholeNumberOrNull } from "./kinds.ts";

/** Tokens that a limit counts: of the prompt, of the output, or both together. */
export const TOKEN_LIMIT_TYPES = ["total", "input", "output"] as const;
export type TokenLimitType = (typeof TOKEN_LIMIT_TYPES)[number];

/** Returns "input tokens"; the type for both is just "tokens". */
export function nameTokenType(type: string, count = 2): string {
  const tokens = count === 1 ? "token" : "tokens";
  return type === "total" ? tokens : `${type} ${tokens}`;
}

/** A billion tokens per minute exceed any provider's capacity. */
const BOUNDS = { minimum: 1, maximum: 1_000_000_000 } as const;

/** Rows in the order of TOKEN_LIMIT_TYPES. */
export const TOKEN_LIMIT_ROWS = {
  tokensPerMinute: {
    apiName: "tokens_per_minute",
    field: "tpm",
    byMembers: true,
    kind: wholeNumberOrNull(BOUNDS),
    default: null,
    description: "Input and output tokens per minute. Null: no limit.",
    label: "Tokens per minute",
    hint: "Input and output together. Empty: no limit.",
    cli: {
      option: { flags: "--tpm <n>", help: "tokens per minute, input and output together, or none" },
      label: "tokens per minute",
      none: "no limit",
    },
  },
  inputTokensPerMinute: {
    apiName: "input_tokens_per_minute",
    field: "input_tpm",
    byMembers: true,
    kind: wholeNumberOrNull(BOUNDS),
    default: null,
    description:
      "Input tokens per minute, without cached ones unless `count_cached_tokens` is on. Null: no limit.",
    label: "Input tokens per minute",
    hint: "Input only. Empty: no limit.",
    cli: {
      option: { flags: "--input-tpm <n>", help: "input tokens per minute, or none" },
      label: "input tokens per minute",
      none: "no limit",
    },
  },
  outputTokensPerMinute: {
    apiName: "output_tokens_per_minute",
    field: "output_tpm",
    byMembers: true,
    kind: wholeNumberOrNull(BOUNDS),
    default: null,
    description: "Output tokens per minute. Null: no limit.",
    label: "Output tokens per minute",
    hint: "Output only. Empty: no limit.",
    cli: {
      option: { flags: "--output-tpm <n>", help: "output tokens per minute, or none" },
      label: "output tokens per minute",
      none: "no limit",
    },
  },
} as const;
