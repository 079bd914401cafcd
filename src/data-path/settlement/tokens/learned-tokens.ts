/**
 * Learns how many tokens texts of a model have, from upstreams' counts. The influence of one organization on
 * others is bounded; for itself all of its requests count.
 */
import { setBounded } from "../../../shared/collections/set-bounded.ts";

/** Sums of least squares with weight 1 / bytes, since an estimate's error grows with the length of a text. */
interface Sums {
  /** Σ 1/bytes */
  inverse: number;
  requests: number;
  bytes: number;
  /** Σ tokens/bytes */
  ratios: number;
  tokens: number;
}

export interface TokenLine {
  readonly overheadTokens: number;
  readonly tokensPerByte: number;
}

/** Four bytes per token, as for English text in current vocabularies. */
const INITIAL_RATIO = 0.25;
/** Bounds of the ratio; they keep an upstream with nonsense reports from spoiling the estimates. */
const MIN_RATIO = 0.02;
const MAX_RATIO = 1;
const MAX_OVERHEAD_TOKENS = 4_096;
/**
 * Weights treat smaller bodies as bodies of this size, because a body of a few bytes would otherwise outweigh all
 * others.
 */
const MIN_BYTES = 64;
/** Prior before any request: requests of these sizes with the initial ratio … */
const PRIOR_BYTES = [256, 4_096, 16_384];
/** … and, with the weight of two bodies of a hundred bytes, a template without overhead. */
const PRIOR_WITHOUT_OVERHEAD = 0.02;
/** One organization moves the line for others by at most this many requests and bytes. */
const SHARED_REQUESTS = 4;
const SHARED_BYTES = 16_384;
/**
 * The longest word of the o200k vocabulary has 128 bytes, so no text has fewer tokens there; lower reports of
 * a model (for example if its template omits fields of a body) lower it.
 */
const MIN_TOKENS_PER_BYTE = 1 / 128;
/** An organization's own sums are halved above this number: the line adapts within a few hundred requests. */
const OWN_REQUESTS = 256;
/** Bound of each learner of a model; organizations without requests for longest are evicted. */
export const MAX_ORGANIZATIONS = 1_000;

/**
 * Tokens as a linear function of bytes: the chat template's constant overhead, and tokens per byte. A weighted
 * regression, in which short bodies determine the overhead and long ones the ratio. Also the minimum per byte.
 */
export class LearnedTokens {
  readonly #own = new Map<string, Sums>();
  /** The prior plus each organization's bounded share. */
  readonly #shared: Sums = createPrior();
  readonly #minimumPerByte = new LearnedMinimum(MIN_TOKENS_PER_BYTE);

  learn(organizationId: string, bytes: number, tokens: number): void {
    if (bytes > 0) this.#minimumPerByte.learn(organizationId, tokens / bytes);
    const own = this.#own.get(organizationId) ?? createSums();
    add(this.#shared, own, -shareOf(own));
    if (own.requests >= OWN_REQUESTS) add(own, own, -0.5);
    const size = Math.max(MIN_BYTES, bytes);
    const seen = Math.min(tokens, MAX_OVERHEAD_TOKENS + size * MAX_RATIO);
    add(own, { inverse: 1 / size, requests: 1, bytes: size, ratios: seen / size, tokens: seen }, 1);
    add(this.#shared, own, shareOf(own));
    const quietest = setBounded(this.#own, organizationId, own, MAX_ORGANIZATIONS);
    for (const each of quietest) add(this.#shared, each, -shareOf(each));
  }

  /** Returns the line for requests of an organization. */
  lineOf(organizationId: string): TokenLine {
    return solve(this.#sumsOf(organizationId));
  }

  /** Returns tokens per byte without overhead, for texts without a template. */
  ratioOf(organizationId: string): number {
    return meanRatio(this.#sumsOf(organizationId));
  }

  /** Returns a lower bound for the tokens of a text with this many bytes. It may have a fraction. */
  minimumOf(organizationId: string, bytes: number): number {
    return bytes * this.#minimumPerByte.of(organizationId);
  }

  #sumsOf(organizationId: string): Sums {
    const own = this.#own.get(organizationId);
    if (own === undefined) return this.#shared;
    const sums = { ...this.#shared };
    add(sums, own, 1 - shareOf(own));
    return sums;
  }
}

/**
 * Minimum of a figure: the amount that may count against a cap before the upstream reports usage, because no
 * final figure will be lower. It only falls: for an organization with each of its own requests, for others only
 * by what two organizations have shown. So a body crafted to have few tokens cannot lower the spend of others.
 */
export class LearnedMinimum {
  /** Only organizations that have shown less than the initial value. */
  readonly #own = new Map<string, number>();
  #least: number;
  #leastOf = "";
  /** Minimum of all organizations other than the one with the least. */
  #second: number;

  constructor(atFirst: number) {
    this.#least = atFirst;
    this.#second = atFirst;
  }

  of(organizationId: string): number {
    return Math.min(this.#second, this.#own.get(organizationId) ?? this.#second);
  }

  learn(organizationId: string, figure: number): void {
    if (figure >= this.of(organizationId)) return;
    setBounded(this.#own, organizationId, figure, MAX_ORGANIZATIONS);
    if (organizationId === this.#leastOf) {
      this.#least = Math.min(this.#least, figure);
    } else if (figure < this.#least) {
      this.#second = this.#least;
      this.#least = figure;
      this.#leastOf = organizationId;
    } else {
      this.#second = Math.min(this.#second, figure);
    }
  }
}

function createSums(): Sums {
  return { inverse: 0, requests: 0, bytes: 0, ratios: 0, tokens: 0 };
}

function createPrior(): Sums {
  const prior = { ...createSums(), inverse: PRIOR_WITHOUT_OVERHEAD };
  for (const bytes of PRIOR_BYTES) {
    const tokens = bytes * INITIAL_RATIO;
    add(prior, { inverse: 1 / bytes, requests: 1, bytes, ratios: tokens / bytes, tokens }, 1);
  }
  return prior;
}

/** Returns the fraction of an organization's sums that counts for others: 0 to 1. */
function shareOf({ requests, bytes }: Sums): number {
  return requests === 0 ? 0 : Math.min(1, SHARED_REQUESTS / requests, SHARED_BYTES / bytes);
}

function add(sums: Sums, more: Sums, factor: number): void {
  const { inverse, requests, bytes, ratios, tokens } = more;
  sums.inverse += inverse * factor;
  sums.requests += requests * factor;
  sums.bytes += bytes * factor;
  sums.ratios += ratios * factor;
  sums.tokens += tokens * factor;
}

function solve(sums: Sums): TokenLine {
  const { inverse, requests, bytes, ratios, tokens } = sums;
  const slope = (inverse * tokens - requests * ratios) / (inverse * bytes - requests * requests);
  const tokensPerByte = clamp(slope, MIN_RATIO, MAX_RATIO);
  const overheadTokens = clamp((ratios - tokensPerByte * requests) / inverse, 0, MAX_OVERHEAD_TOKENS);
  // A template cannot remove tokens: if the line would start below zero, force it through zero.
  if (overheadTokens > 0) return { overheadTokens, tokensPerByte };
  return { overheadTokens, tokensPerByte: meanRatio(sums) };
}

function meanRatio({ tokens, bytes }: Sums): number {
  return clamp(tokens / bytes, MIN_RATIO, MAX_RATIO);
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value));
}
