/**
 * Minimum tokens of texts, by model: the amount that may count against a cap before the upstream reports
 * usage, because no final figure will be lower. The minimum only falls, by reported usage: for an
 * organization with each of its own requests, for others only by what two organizations have shown. So a body
 * crafted to have few tokens cannot lower the spend of other organizations.
 */
import { setBounded } from "../../../shared/collections/set-bounded.ts";

/**
 * The longest word of the o200k vocabulary has 128 bytes, so no text has fewer tokens there; lower reports of
 * a model (for example if its template omits fields of a body) lower it.
 */
const TOKENS_PER_BYTE = 1 / 128;
/** True of most servers; a server that splits text more finely than tokens lowers it. */
const TOKENS_PER_DELTA = 1;
/** Bound per model; organizations without requests for longest are evicted. */
const MAX_ORGANIZATIONS = 1_000;

export class FewestTokens {
  readonly #perPromptByte = new MinimumShown(TOKENS_PER_BYTE);
  readonly #perGeneratedByte = new MinimumShown(TOKENS_PER_BYTE);
  readonly #perDelta = new MinimumShown(TOKENS_PER_DELTA);

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

/** Minimum of a figure: shown by an organization's own requests, or by at least two organizations. */
class MinimumShown {
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
