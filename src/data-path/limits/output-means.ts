/**
 * Mean output tokens of a key's requests with token limits, and of its organization's, used for keys without
 * earlier requests. Shared limits reserve it at admission.
 */
import { setBounded } from "../../shared/collections/set-bounded.ts";

/** Maximum weight of the past: a later request weighs a sixteenth. */
const MAX_WEIGHT = 16;
/** Bound of keys and organizations; those without requests for longest are evicted. */
const MAX_KNOWN = 10_000;

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
      mean.requests = Math.min(mean.requests + 1, MAX_WEIGHT);
      mean.tokens += (outputTokens - mean.tokens) / mean.requests;
      setBounded(this.#known, id, mean, MAX_KNOWN);
    }
  }

  /** Returns whole tokens; 0 if unknown. */
  of({ organizationId, keyId }: Owner): number {
    return Math.ceil((this.#known.get(keyId) ?? this.#known.get(organizationId))?.tokens ?? 0);
  }
}
