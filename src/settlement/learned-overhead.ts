/**
 * The most tokens that a model's chat template has been seen to add to a prompt, with tools and without: what strict
 * caps hold where it is more than `gateway.yaml` says. It only ever rises.
 */

/** What is known of one request's prompt once the upstream has counted it. */
export interface CountedPrompt {
  /** Of the whole body that went upstream. */
  readonly upstreamBytes: number;
  readonly hasTools: boolean;
  readonly promptTokens: number;
}

/** In longer bodies the text's own tokens hide the template's. */
export const MAX_BYTES_TO_LEARN_OVERHEAD = 1_024;
/** At most; a longer one is a prompt that the upstream adds, or nonsense. */
const MAX_OVERHEAD_TOKENS = 131_072;

export class LearnedOverhead {
  #plain = 0;
  #withTools = 0;

  tokens(hasTools: boolean): number {
    return hasTools ? this.#withTools : this.#plain;
  }

  /** @param tokensPerByte As learned of this model: a body's own tokens are taken off. */
  learn({ upstreamBytes, hasTools, promptTokens }: CountedPrompt, tokensPerByte: number): void {
    // Every byte one token: what is beyond it is the template's for certain.
    const certain = promptTokens - upstreamBytes;
    const isShort = upstreamBytes <= MAX_BYTES_TO_LEARN_OVERHEAD;
    const likely = isShort ? Math.ceil(promptTokens - upstreamBytes * tokensPerByte) : 0;
    const seen = Math.min(MAX_OVERHEAD_TOKENS, Math.max(certain, likely));
    if (hasTools) this.#withTools = Math.max(this.#withTools, seen);
    else this.#plain = Math.max(this.#plain, seen);
  }
}
