/**
 * What a model's chat template makes of short prompts, as upstreams have counted them: a tokenizer that knows a prompt's
 * text knows nothing of it. An organization's own requests count for itself; of each, a few for those who have none.
 */
import { setBounded } from "../set-bounded.ts";

/** A prompt whose text was counted, and for what a template is to be added. */
export interface CountedText {
  readonly textTokens: number;
  readonly textBytes: number;
  /** Of the client's whole body; null: they say nothing about its tokens. */
  readonly bodyBytes: number | null;
}

/** The newest so many count the most. */
const RECENT_REQUESTS = 16;
/** Of one organization, for others. */
const SHARED_REQUESTS = 4;
/** Of one model; the one that was quiet for longest is forgotten. */
const MAX_ORGANIZATIONS = 1_000;
/** A longer one is a prompt that the upstream adds, or nonsense. */
const MAX_TEMPLATE_TOKENS = 4_096;
/** More of a body than this is no frame of the messages, but what JSON makes of their characters. */
const MAX_FRAME_BYTES = 1_024;

export class LearnedTemplate {
  readonly #own = new Map<string, MeanPrompt>();
  readonly #shared = new MeanPrompt();

  /** @param bodyBytes Of a short body: in a longer one the text's own tokens hide the template's. */
  learn(organizationId: string, bodyBytes: number, tokens: number): void {
    const own = this.#own.get(organizationId) ?? new MeanPrompt();
    const seen = Math.min(tokens, bodyBytes + MAX_TEMPLATE_TOKENS);
    if (own.requests < SHARED_REQUESTS) this.#shared.add(bodyBytes, seen);
    own.add(bodyBytes, seen);
    setBounded(this.#own, organizationId, own, MAX_ORGANIZATIONS);
  }

  /**
   * A prompt's tokens with the template's; those of the text where nothing was learned. Never more than short prompts of
   * that size came to: a frame of JSON that the template leaves out is worth nothing.
   */
  addTo(
    { textTokens, textBytes, bodyBytes }: CountedText,
    organizationId: string,
    tokensPerByte: number,
  ): number {
    const mean = this.#own.get(organizationId) ?? this.#shared;
    if (mean.requests === 0) return textTokens;
    const alone = Math.max(0, mean.tokens - mean.bytes * tokensPerByte);
    if (bodyBytes === null) return Math.round(textTokens + alone);
    const frameBytes = Math.min(MAX_FRAME_BYTES, Math.max(0, bodyBytes - textBytes));
    const expected = mean.tokens + (bodyBytes - mean.bytes) * tokensPerByte;
    const withTemplate = Math.min(textTokens + alone + frameBytes * tokensPerByte, expected);
    return Math.max(textTokens, Math.round(withTemplate));
  }
}

/** The mean size of short prompts, in bytes and in tokens. */
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
