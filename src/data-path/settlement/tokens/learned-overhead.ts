/**
 * Maximum tokens that a model's chat template recently added to a prompt, with and without tools: strict caps
 * reserve it if it exceeds the configured overhead in `gateway.yaml`. An organization's own requests count in
 * full for itself, and for others at most as a usual template, so that no organization can move others' caps
 * beyond that. Values that do not recur expire.
 */
import { setBounded } from "../../../shared/collections/set-bounded.ts";

/** Size of one prompt, known once the upstream has counted it. */
export interface CountedPrompt {
  /** Bytes of the whole body that went upstream. */
  readonly upstreamBytes: number;
  /** Bytes of its text; null if the text is more than the conversation. */
  readonly conversationBytes: number | null;
  readonly hasTools: boolean;
  readonly promptTokens: number;
}

/** In longer bodies the text's own tokens hide the template's. */
export const MAX_BYTES_TO_LEARN_OVERHEAD = 1_024;
/** Maximum; a larger overhead is a prompt added by the upstream, or nonsense. */
const MAX_OVERHEAD_TOKENS = 131_072;
/** Maximum that counts for other organizations. */
const SHARED_OVERHEAD_TOKENS = 1_024;
/** A value counts for at least this long, and at most twice as long. */
const PERIOD_MS = 600_000;
/** Bound per model; organizations without requests for longest are evicted. */
const MAX_ORGANIZATIONS = 1_000;

export class LearnedOverhead {
  readonly #plain = new SeenByOrganizations();
  readonly #withTools = new SeenByOrganizations();

  tokens(organizationId: string, hasTools: boolean, nowMs: number): number {
    return this.#of(hasTools).tokens(organizationId, nowMs);
  }

  /** @param tokensPerByte Learned for this model: the body's own tokens are subtracted. */
  learn(organizationId: string, counted: CountedPrompt, tokensPerByte: number, nowMs: number): void {
    const { upstreamBytes, hasTools, promptTokens } = counted;
    // Assumes one token per byte: the rest certainly comes from the template.
    const certain = promptTokens - upstreamBytes;
    const isShort = upstreamBytes <= MAX_BYTES_TO_LEARN_OVERHEAD;
    const likely = isShort ? Math.ceil(promptTokens - upstreamBytes * tokensPerByte) : 0;
    const seen = Math.min(MAX_OVERHEAD_TOKENS, Math.max(certain, likely));
    if (seen > 0) this.#of(hasTools).see(organizationId, seen, nowMs);
  }

  #of(hasTools: boolean): SeenByOrganizations {
    return hasTools ? this.#withTools : this.#plain;
  }
}

class SeenByOrganizations {
  readonly #own = new Map<string, RecentMaximum>();
  readonly #shared = new RecentMaximum();

  tokens(organizationId: string, nowMs: number): number {
    const own = this.#own.get(organizationId)?.at(nowMs) ?? 0;
    return Math.max(own, this.#shared.at(nowMs));
  }

  see(organizationId: string, tokens: number, nowMs: number): void {
    const own = this.#own.get(organizationId) ?? new RecentMaximum();
    own.see(tokens, nowMs);
    setBounded(this.#own, organizationId, own, MAX_ORGANIZATIONS);
    this.#shared.see(Math.min(tokens, SHARED_OVERHEAD_TOKENS), nowMs);
  }
}

/** Maximum over this period and the previous one. */
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
