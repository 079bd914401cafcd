/**
 * The fewest tokens that something can be, of one model: what may count against a cap while the upstream has reported
 * nothing yet, because no final figure takes it back. It only ever falls, with what upstreams report.
 */

/**
 * The longest word of the o200k vocabulary has 128 bytes, so no text has fewer tokens there; reports of a model that
 * comes to fewer (fields of a body that its template leaves out, for one) lower it.
 */
const TOKENS_PER_BYTE = 1 / 128;
/** From most servers; one that cuts its text again, finer than tokens, lowers it. */
const TOKENS_PER_DELTA = 1;

export class FewestTokens {
  #perPromptByte = TOKENS_PER_BYTE;
  #perGeneratedByte = TOKENS_PER_BYTE;
  #perDelta = TOKENS_PER_DELTA;

  learnPrompt(bytes: number, tokens: number): void {
    if (bytes > 0) this.#perPromptByte = Math.min(this.#perPromptByte, tokens / bytes);
  }

  learnOutput({ bytes, deltas, tokens }: { bytes: number; deltas: number; tokens: number }): void {
    if (bytes > 0) this.#perGeneratedByte = Math.min(this.#perGeneratedByte, tokens / bytes);
    if (deltas > 0) this.#perDelta = Math.min(this.#perDelta, tokens / deltas);
  }

  prompt(bytes: number): number {
    return Math.floor(bytes * this.#perPromptByte);
  }

  output({ bytes, deltas }: { bytes: number; deltas: number }): number {
    return Math.floor(Math.max(bytes * this.#perGeneratedByte, deltas * this.#perDelta));
  }
}
