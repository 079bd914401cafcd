/**
 * The most tokens that a model's chat template has lately been seen to add to a prompt, with tools and without: what
 * strict caps hold where it is more than `gateway.yaml` says. For an organization's own requests all that they have shown
 * counts, for those of others no more than a usual template takes: what one sends moves no other's caps beyond that. What
 * is not seen again falls away.
 */
import { setBounded } from "../../../shared/collections/set-bounded.ts";

/** What is known of one request's prompt once the upstream has counted it. */
export interface CountedPrompt {
  /** Of the whole body that went upstream. */
  readonly upstreamBytes: number;
  /** Of its text; null: it is not of the conversation alone. */
  readonly conversationBytes: number | null;
  readonly hasTools: boolean;
  readonly promptTokens: number;
}

/** In longer bodies the text's own tokens hide the template's. */
export const MAX_BYTES_TO_LEARN_OVERHEAD = 1_024;
/** At most; a longer one is a prompt that the upstream adds, or nonsense. */
const MAX_OVERHEAD_TOKENS = 131_072;
/** Of what one organization's prompts have shown, so much counts for others. */
const SHARED_OVERHEAD_TOKENS = 1_024;
/** What was seen counts for so long at least, and for twice as long at most. */
const PERIOD_MS = 600_000;
/** Of one model; the one that was quiet for longest is forgotten. */
const MAX_ORGANIZATIONS = 1_000;

export class LearnedOverhead {
  readonly #plain = new SeenByOrganizations();
  readonly #withTools = new SeenByOrganizations();

  tokens(organizationId: string, hasTools: boolean, nowMs: number): number {
    return this.#of(hasTools).tokens(organizationId, nowMs);
  }

  /** @param tokensPerByte As learned of this model: a body's own tokens are taken off. */
  learn(organizationId: string, counted: CountedPrompt, tokensPerByte: number, nowMs: number): void {
    const { upstreamBytes, hasTools, promptTokens } = counted;
    // Every byte one token: what is beyond it is the template's for certain.
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
  readonly #own = new Map<string, RecentMost>();
  readonly #shared = new RecentMost();

  tokens(organizationId: string, nowMs: number): number {
    const own = this.#own.get(organizationId)?.at(nowMs) ?? 0;
    return Math.max(own, this.#shared.at(nowMs));
  }

  see(organizationId: string, tokens: number, nowMs: number): void {
    const own = this.#own.get(organizationId) ?? new RecentMost();
    own.see(tokens, nowMs);
    setBounded(this.#own, organizationId, own, MAX_ORGANIZATIONS);
    this.#shared.see(Math.min(tokens, SHARED_OVERHEAD_TOKENS), nowMs);
  }
}

/** The largest of the figures of this period and the one before. */
class RecentMost {
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
