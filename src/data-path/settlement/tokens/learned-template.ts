/**
 * Tokens that a model's chat template adds to short prompts, learned from upstreams' counts, because a
 * tokenizer that counts the text ignores the template. An organization's own requests count for itself, and a
 * few of each organization's for those without any.
 */
import { setBounded } from "../../../shared/collections/set-bounded.ts";

/** In a longer text its own tokens hide the template's. */
const SHORT_TEXT_BYTES = 1_024;
/** Window of the mean: newer requests weigh more. */
const RECENT_REQUESTS = 16;
/** Requests of one organization that count for others. */
const SHARED_REQUESTS = 4;
/** Bound per model; organizations without requests for longest are evicted. */
const MAX_ORGANIZATIONS = 1_000;
/** Maximum; more is a prompt added by the upstream, or nonsense. */
const MAX_TEMPLATE_TOKENS = 4_096;

export class LearnedTemplate {
  readonly #own = new Map<string, MeanPrompt>();
  readonly #shared = new MeanPrompt();

  learn(organizationId: string, textBytes: number, promptTokens: number): void {
    if (textBytes > SHORT_TEXT_BYTES || promptTokens === 0) return;
    const own = this.#own.get(organizationId) ?? new MeanPrompt();
    const tokens = Math.min(promptTokens, textBytes + MAX_TEMPLATE_TOKENS);
    if (own.requests < SHARED_REQUESTS) this.#shared.add(textBytes, tokens);
    own.add(textBytes, tokens);
    setBounded(this.#own, organizationId, own, MAX_ORGANIZATIONS);
  }

  /** Adds the template to the tokens of a prompt's text; returns just these if nothing was learned. */
  addTo(textTokens: number, textBytes: number, organizationId: string, tokensPerByte: number): number {
    const mean = this.#own.get(organizationId) ?? this.#shared;
    if (mean.requests === 0) return textTokens;
    const template = Math.max(0, mean.tokens - mean.bytes * tokensPerByte);
    // For a short text the mean of similar prompts is the best estimate.
    const most =
      textBytes > SHORT_TEXT_BYTES ? Infinity : mean.tokens + (textBytes - mean.bytes) * tokensPerByte;
    return Math.max(textTokens, Math.round(Math.min(textTokens + template, most)));
  }
}

/** Mean size of short prompts, in bytes of text and in tokens. */
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
