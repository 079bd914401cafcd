/**
 * What the parts of one request cost. A request's cost is an exact sum of products, rounded up to a whole microcent once,
 * at its end; so no part is rounded by itself.
 */
import { formatPrice } from "../money/money.ts";
import type { TokenUsage } from "../usage/token-usage.ts";
import { type ChargedTool, NO_TOOLS, toolAmount } from "./tool-charges.ts";

/** Microcents per million tokens; but `request`, which is in microcents. */
export interface Rates {
  /** Prompt tokens that none of the next four are for. */
  readonly input: bigint;
  readonly cachedInput: bigint;
  /** Written to a cache for 5 minutes. */
  readonly cacheWrite: bigint;
  readonly cacheWrite1h: bigint;
  readonly inputAudio: bigint;
  /** Generated tokens that neither of the next two are for. */
  readonly output: bigint;
  readonly reasoning: bigint;
  readonly outputAudio: bigint;
  /** Once for each request. */
  readonly request: bigint;
}

/** The tokens of a request as they are billed: none is in two parts. */
export type BilledTokens = TokenUsage;

/** What one part of a request came to. */
export interface CostPart {
  /** The name of a rate, or of a server tool. */
  readonly name: string;
  /** Null: the fee of the request, or uses of a tool. */
  readonly tokens: number | null;
  /** How often a server tool was used; null: it is none. */
  readonly uses: number | null;
  /** Per million tokens, per request, or per thousand uses. */
  readonly rate: bigint;
  /** Exact, in millionths of a microcent. */
  readonly amount: bigint;
}

export type PartName = (typeof RATE_NAMES)[number]["name"];

/** A rate's name in files, records and answers, beside that of its field, in the order in which they are shown. */
export const RATE_NAMES = [
  { rate: "input", name: "input" },
  { rate: "cachedInput", name: "cached_input" },
  { rate: "cacheWrite", name: "cache_write" },
  { rate: "cacheWrite1h", name: "cache_write_1h" },
  { rate: "inputAudio", name: "input_audio" },
  { rate: "output", name: "output" },
  { rate: "reasoning", name: "reasoning" },
  { rate: "outputAudio", name: "output_audio" },
  { rate: "request", name: "request" },
] as const satisfies readonly { rate: keyof Rates; name: string }[];

/** What a rate is when it is not given. A fee that is not given is none. */
export const FALLBACKS = {
  cachedInput: "input",
  cacheWrite: "input",
  cacheWrite1h: "cacheWrite",
  inputAudio: "input",
  reasoning: "output",
  outputAudio: "output",
} as const satisfies Record<Exclude<keyof Rates, "input" | "output" | "request">, keyof Rates>;

const NO_FEE = formatPrice(0n);

/**
 * The names of the rates that are not what they fall back to, the fee of a request behind them where there is one; beside
 * input, cached input and output, which are always shown.
 */
export function listOtherRates(shown: Readonly<Record<string, unknown>>): PartName[] {
  const nameOf = new Map<keyof Rates, PartName>(RATE_NAMES.map(({ rate, name }) => [rate, name]));
  return RATE_NAMES.filter(({ rate, name }) => {
    if (rate === "input" || rate === "cachedInput" || rate === "output") return false;
    if (rate === "request") return shown[name] !== NO_FEE;
    return shown[name] !== shown[nameOf.get(FALLBACKS[rate]) ?? ""];
  }).map(({ name }) => name);
}

/** Rates as somebody gave them: all but two may be left out. */
export type GivenRates = Pick<Rates, "input" | "output"> & {
  readonly [Name in Exclude<keyof Rates, "input" | "output">]?: Rates[Name] | undefined;
};

export const TOKENS_PER_PRICE_UNIT = 1_000_000n;

/** Rates with what was left out. */
export function completeRates(given: GivenRates): Rates {
  const rateOf = (name: Exclude<keyof Rates, "request">): bigint =>
    name === "input" || name === "output" ? given[name] : (given[name] ?? rateOf(FALLBACKS[name]));
  return Object.freeze({
    input: given.input,
    cachedInput: rateOf("cachedInput"),
    cacheWrite: rateOf("cacheWrite"),
    cacheWrite1h: rateOf("cacheWrite1h"),
    inputAudio: rateOf("inputAudio"),
    output: given.output,
    reasoning: rateOf("reasoning"),
    outputAudio: rateOf("outputAudio"),
    request: given.request ?? 0n,
  });
}

/** All tokens of a prompt, cached and written ones included. */
export function promptTokensOf(tokens: Pick<TokenUsage, "inputTokens" | "cachedInputTokens">): number {
  return tokens.inputTokens + tokens.cachedInputTokens;
}

/** The cost of a request in microcents, rounded up once, on the sum. */
export function costMicrocents(
  tokens: BilledTokens,
  rates: Rates,
  tools: readonly ChargedTool[] = NO_TOOLS,
): bigint {
  const { cacheWriteTokens, cacheWrite1hTokens, inputAudioTokens, reasoningTokens, outputAudioTokens } =
    tokens;
  let sum = rates.request * TOKENS_PER_PRICE_UNIT;
  const add = (count: number, rate: bigint): void => {
    if (count > 0) sum += BigInt(count) * rate;
  };
  add(tokens.inputTokens - cacheWriteTokens - cacheWrite1hTokens - inputAudioTokens, rates.input);
  add(tokens.cachedInputTokens, rates.cachedInput);
  add(cacheWriteTokens, rates.cacheWrite);
  add(cacheWrite1hTokens, rates.cacheWrite1h);
  add(inputAudioTokens, rates.inputAudio);
  add(tokens.outputTokens - reasoningTokens - outputAudioTokens, rates.output);
  add(reasoningTokens, rates.reasoning);
  add(outputAudioTokens, rates.outputAudio);
  for (const tool of tools) sum += toolAmount(tool);
  return roundUp(sum);
}

/** The parts of a cost, exact, without those of which there is nothing: they add up to it before it is rounded up. */
export function costParts(
  tokens: BilledTokens,
  rates: Rates,
  tools: readonly ChargedTool[] = NO_TOOLS,
): CostPart[] {
  const { cacheWriteTokens, cacheWrite1hTokens, inputAudioTokens, reasoningTokens, outputAudioTokens } =
    tokens;
  const counts: Readonly<Record<Exclude<keyof Rates, "request">, number>> = {
    input: tokens.inputTokens - cacheWriteTokens - cacheWrite1hTokens - inputAudioTokens,
    cachedInput: tokens.cachedInputTokens,
    cacheWrite: cacheWriteTokens,
    cacheWrite1h: cacheWrite1hTokens,
    inputAudio: inputAudioTokens,
    output: tokens.outputTokens - reasoningTokens - outputAudioTokens,
    reasoning: reasoningTokens,
    outputAudio: outputAudioTokens,
  };
  const ofRates = RATE_NAMES.flatMap(({ rate: field, name }): CostPart[] => {
    const rate = rates[field];
    if (field === "request") {
      return rate === 0n
        ? []
        : [{ name, tokens: null, uses: null, rate, amount: rate * TOKENS_PER_PRICE_UNIT }];
    }
    const count = counts[field];
    return count === 0 ? [] : [{ name, tokens: count, uses: null, rate, amount: BigInt(count) * rate }];
  });
  const ofTools = tools.map((tool): CostPart => ({ ...tool, tokens: null, amount: toolAmount(tool) }));
  return [...ofRates, ...ofTools];
}

/** Millionths of a microcent as whole microcents: the only rounding of a cost. */
export function roundUp(amount: bigint): bigint {
  return (amount + TOKENS_PER_PRICE_UNIT - 1n) / TOKENS_PER_PRICE_UNIT;
}
