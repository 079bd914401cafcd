/**
 * The mean output of a key's requests that meet limits of tokens per minute, and of its organization's, which stands for
 * keys without a request so far. Shared limits take it when they admit a request.
 */
import { setBounded } from "../../shared/collections/set-bounded.ts";

/** A later request weighs a sixteenth. */
const MOST_WEIGHT = 16;
/** The keys and organizations that were quiet for longest are forgotten. */
const MOST_KNOWN = 10_000;

interface Owner {
  readonly organizationId: string;
  readonly keyId: string;
}

interface Mean {
  requests: number;
  tokens: number;
}

export class OutputMeans {
  readonly #known = new Map<string, Mean>();

  learn({ organizationId, keyId }: Owner, outputTokens: number): void {
    for (const id of [organizationId, keyId]) {
      const mean = this.#known.get(id) ?? { requests: 0, tokens: 0 };
      mean.requests = Math.min(mean.requests + 1, MOST_WEIGHT);
      mean.tokens += (outputTokens - mean.tokens) / mean.requests;
      setBounded(this.#known, id, mean, MOST_KNOWN);
    }
  }

  /** Whole tokens; 0 if nothing is known. */
  of({ organizationId, keyId }: Owner): number {
    return Math.ceil((this.#known.get(keyId) ?? this.#known.get(organizationId))?.tokens ?? 0);
  }
}
