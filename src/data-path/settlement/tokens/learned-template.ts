/**
 * Learns what a model's chat template adds to prompts, from upstreams' counts. Strict caps reserve the recent
 * maximum if it exceeds the configured overhead in `gateway.yaml`; a tokenizer's count of a text, which ignores
 * the template, gets the mean. An organization's own prompts count in full for itself, and for others at most
 * as a usual template, so that no organization can move others' caps and counts beyond that.
 */
import { setBounded } from "../../../shared/collections/set-bounded.ts";
import { MAX_ORGANIZATIONS } from "./learned-tokens.ts";

/** Size of a prompt whose tokens show the chat template's. */
export interface TemplateSize {
  /** Bytes of the whole body that went upstream. */
  readonly upstreamBytes: number;
  /** Bytes of its text; null if the text is more than the conversation. */
  readonly conversationBytes: number | null;
  readonly hasTools: boolean;
  /** The chat template's tokens as configured in `gateway.yaml`. */
  readonly configuredTokens: number;
}

/** Number of prompts whose chat template exceeded the configured overhead. */
export interface ExceededTemplate {
  readonly hasTools: boolean;
  readonly prompts: number;
  /** Largest number of tokens that a prompt had beyond its bytes. */
  readonly tokens: number;
}

/** Only bodies and texts up to this size are used: in longer ones, the text's own tokens hide the template's. */
export const SHORT_BYTES = 1_024;
/** Maximum; a larger overhead is a prompt added by the upstream, or nonsense. */
const MAX_TOKENS = 131_072;
/** Bound of the maximum for other organizations. */
const SHARED_TOKENS = 1_024;
/** A maximum counts for at least this long, and at most twice as long. */
const PERIOD_MS = 600_000;
/** Bound of the mean. */
const MAX_MEAN_TOKENS = 4_096;
/** Window of the mean: newer requests weigh more. */
const RECENT_REQUESTS = 16;
/** Requests of one organization in the mean for others. */
const SHARED_REQUESTS = 4;

/** Learned from prompts of one organization, or of all. */
interface Shown {
  readonly plain: RecentMaximum;
  readonly withTools: RecentMaximum;
  /** Only short conversations without tools. */
  readonly mean: MeanPrompt;
}

export class LearnedTemplate {
  readonly #own = new Map<string, Shown>();
  readonly #shared = createShown();
  /** Keyed by whether the prompt had tools. */
  readonly #exceeded = new Map<boolean, ExceededTemplate>();

  /** @param tokensPerByte Learned for this model: the body's own tokens are subtracted. */
  learn(
    organizationId: string,
    promptTokens: number,
    size: TemplateSize,
    { tokensPerByte, nowMs }: { readonly tokensPerByte: number; readonly nowMs: number },
  ): void {
    const { upstreamBytes, conversationBytes, hasTools } = size;
    // Assumes one token per byte: the rest certainly comes from the template.
    const certain = promptTokens - upstreamBytes;
    const isShort = upstreamBytes <= SHORT_BYTES;
    const likely = isShort ? Math.ceil(promptTokens - upstreamBytes * tokensPerByte) : 0;
    const most = Math.min(MAX_TOKENS, Math.max(certain, likely));
    const showsMean = !hasTools && conversationBytes !== null && conversationBytes <= SHORT_BYTES;
    if (most <= 0 && !showsMean) return;
    const own = this.#own.get(organizationId) ?? createShown();
    maximumOf(own, hasTools).see(most, nowMs);
    maximumOf(this.#shared, hasTools).see(Math.min(most, SHARED_TOKENS), nowMs);
    if (showsMean && promptTokens > 0) this.#learnMean(own.mean, conversationBytes, promptTokens);
    setBounded(this.#own, organizationId, own, MAX_ORGANIZATIONS);
    if (certain > size.configuredTokens) this.#countExceeded(hasTools, certain);
  }

  /** Returns the maximum tokens that the template recently added. */
  mostTokens(organizationId: string, hasTools: boolean, nowMs: number): number {
    const own = this.#own.get(organizationId);
    const shared = maximumOf(this.#shared, hasTools).at(nowMs);
    return own === undefined ? shared : Math.max(shared, maximumOf(own, hasTools).at(nowMs));
  }

  /**
   * Adds the chat template's tokens to those of a prompt's text. Returns the text's tokens unchanged if nothing was
   * learned.
   */
  addTo(textTokens: number, textBytes: number, organizationId: string, tokensPerByte: number): number {
    const own = this.#own.get(organizationId)?.mean;
    const mean = own === undefined || own.requests === 0 ? this.#shared.mean : own;
    if (mean.requests === 0) return textTokens;
    const template = Math.max(0, mean.tokens - mean.bytes * tokensPerByte);
    // For a short text the mean of similar prompts is the best estimate.
    const most = textBytes > SHORT_BYTES ? Infinity : mean.tokens + (textBytes - mean.bytes) * tokensPerByte;
    return Math.max(textTokens, Math.round(Math.min(textTokens + template, most)));
  }

  /** Prompts beyond the configured overhead, without and with tools. */
  get exceeded(): Iterable<ExceededTemplate> {
    return this.#exceeded.values();
  }

  #learnMean(own: MeanPrompt, bytes: number, promptTokens: number): void {
    const tokens = Math.min(promptTokens, bytes + MAX_MEAN_TOKENS);
    if (own.requests < SHARED_REQUESTS) this.#shared.mean.add(bytes, tokens);
    own.add(bytes, tokens);
  }

  #countExceeded(hasTools: boolean, tokens: number): void {
    const before = this.#exceeded.get(hasTools) ?? { prompts: 0, tokens: 0 };
    const most = Math.max(before.tokens, tokens);
    this.#exceeded.set(hasTools, { hasTools, prompts: before.prompts + 1, tokens: most });
  }
}

function createShown(): Shown {
  return { plain: new RecentMaximum(), withTools: new RecentMaximum(), mean: new MeanPrompt() };
}

function maximumOf({ plain, withTools }: Shown, hasTools: boolean): RecentMaximum {
  return hasTools ? withTools : plain;
}

/** Maximum over this period and the previous one; at least 0. */
class RecentMaximum {
  #current = 0;
  #former = 0;
  #sinceMs = -Infinity;

  see(figure: number, nowMs: number): void {
    this.#turn(nowMs);
    this.#current = Math.max(this.#current, figure);
  }

  at(nowMs: number): number {
    this.#turn(nowMs);
    return Math.max(this.#current, this.#former);
  }

  #turn(nowMs: number): void {
    const elapsedMs = nowMs - this.#sinceMs;
    if (elapsedMs < PERIOD_MS) return;
    this.#former = elapsedMs < 2 * PERIOD_MS ? this.#current : 0;
    this.#current = 0;
    this.#sinceMs = nowMs;
  }
}

/** Mean size of prompts, in bytes of text and in tokens. */
class MeanPrompt {
  requests = 0;
  bytes = 0;
  tokens = 0;

  add(bytes: number, tokens: number): void {
    this.requests += 1;
    const weight = 1 / Math.min(this.requests, RECENT_REQUESTS);
    this.bytes += (bytes - this.bytes) * weight;
    this.tokens += (tokens - this.tokens) * weight;
  }
}
