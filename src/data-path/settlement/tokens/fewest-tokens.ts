/**
 * The fewest tokens that something can be, of one model: what may count against a cap while the upstream has reported
 * nothing yet, because no final figure takes it back. It only ever falls, with what upstreams report: for an organization
 * with each of its own requests, for others with what two organizations have shown. So a body that is made to be worth
 * few tokens lets nobody else's spend count for less.
 */
import { setBounded } from "../../../shared/collections/set-bounded.ts";

/**
 * The longest word of the o200k vocabulary has 128 bytes, so no text has fewer tokens there; reports of a model that
 * comes to fewer (fields of a body that its template leaves out, for one) lower it.
 */
const TOKENS_PER_BYTE = 1 / 128;
/** From most servers; one that cuts its text again, finer than tokens, lowers it. */
const TOKENS_PER_DELTA = 1;
/** Of one model; the one that was quiet for longest is forgotten. */
const MAX_ORGANIZATIONS = 1_000;

export class FewestTokens {
  readonly #perPromptByte = new LeastShown(TOKENS_PER_BYTE);
  readonly #perGeneratedByte = new LeastShown(TOKENS_PER_BYTE);
  readonly #perDelta = new LeastShown(TOKENS_PER_DELTA);

  learnPrompt(organizationId: string, bytes: number, tokens: number): void {
    if (bytes > 0) this.#perPromptByte.show(organizationId, tokens / bytes);
  }

  learnOutput(
    organizationId: string,
    { bytes, deltas, tokens }: { bytes: number; deltas: number; tokens: number },
  ): void {
    if (bytes > 0) this.#perGeneratedByte.show(organizationId, tokens / bytes);
    if (deltas > 0) this.#perDelta.show(organizationId, tokens / deltas);
  }

  prompt(organizationId: string, bytes: number): number {
    return Math.floor(bytes * this.#perPromptByte.of(organizationId));
  }

  output(organizationId: string, { bytes, deltas }: { bytes: number; deltas: number }): number {
    const byBytes = bytes * this.#perGeneratedByte.of(organizationId);
    return Math.floor(Math.max(byBytes, deltas * this.#perDelta.of(organizationId)));
  }
}

/** The least of a figure: what an organization's own requests have shown, or at least two organizations'. */
class LeastShown {
  /** Only of those that have shown less than what is believed at first. */
  readonly #own = new Map<string, number>();
  #least: number;
  #leastOf = "";
  /** Of any other than the least's. */
  #second: number;

  constructor(atFirst: number) {
    this.#least = atFirst;
    this.#second = atFirst;
  }

  of(organizationId: string): number {
    return Math.min(this.#second, this.#own.get(organizationId) ?? this.#second);
  }

  show(organizationId: string, figure: number): void {
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
