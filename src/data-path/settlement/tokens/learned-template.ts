/**
 * What a model's chat template makes of short prompts, as upstreams have counted them: a tokenizer that knows a prompt's
 * text knows nothing of it. An organization's own requests count for itself; of each, a few for those who have none.
 */
import { setBounded } from "../../../shared/collections/set-bounded.ts";

/** In a longer text its own tokens hide the template's. */
const SHORT_TEXT_BYTES = 1_024;
/** The newest so many count the most. */
const RECENT_REQUESTS = 16;
/** Of one organization, for others. */
const SHARED_REQUESTS = 4;
/** Of one model; the one that was quiet for longest is forgotten. */
const MAX_ORGANIZATIONS = 1_000;
/** A longer one is a prompt that the upstream adds, or nonsense. */
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

  /** Tokens of a prompt whose text alone has so many; just these where nothing was learned. */
  addTo(textTokens: number, textBytes: number, organizationId: string, tokensPerByte: number): number {
    const mean = this.#own.get(organizationId) ?? this.#shared;
    if (mean.requests === 0) return textTokens;
    const template = Math.max(0, mean.tokens - mean.bytes * tokensPerByte);
    // Of a short text nearly all is known: what prompts of its size came to.
    const most =
      textBytes > SHORT_TEXT_BYTES ? Infinity : mean.tokens + (textBytes - mean.bytes) * tokensPerByte;
    return Math.max(textTokens, Math.round(Math.min(textTokens + template, most)));
  }
}

/** The mean size of short prompts, in bytes of text and in tokens. */
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
