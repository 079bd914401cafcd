/**
 * Look-up of keys: from a key's hash to its organization and id. The pair never changes, so the cache needs
 * no invalidation, and nothing here decides access: admission checks the presented hash against the key's
 * record on every request. If Redis is unreachable the look-up fails and the request is rejected. Concurrent
 * requests with the same unknown key share one look-up.
 */
import type { Clock } from "../../shared/time/clock.ts";
import { setBounded } from "../../shared/collections/set-bounded.ts";
import type { KeyReference } from "../../shared/stored/admission.ts";
import { hashKey } from "./key-format.ts";

/** Caller: the key's identity and the presented hash. */
export interface Caller extends KeyReference {
  /** SHA-256 of the key, hex; for a key without a secret the text in its place. */
  readonly presentedHash: string;
  /** User that must own the key, if the caller has a token. */
  readonly userId: string | null;
  /** Group in the token; null: the key's own, or its user's. */
  readonly groupId: string | null;
}

export interface KeyDirectoryOptions {
  readonly lookUp: (hash: string) => Promise<KeyReference | null>;
  readonly clock: Clock;
  /** Maximum number of entries; the oldest is evicted first. About 250 bytes each. */
  readonly maxEntries?: number;
  /** Time for which a key is remembered as unknown: shields Redis from a client that retries a wrong key. */
  readonly unknownForMs?: number;
}

const DEFAULT_MAX_ENTRIES = 100_000;
const DEFAULT_UNKNOWN_FOR_MS = 3_000;
const MAX_UNKNOWN_ENTRIES = 10_000;
/** Bound, because anyone may present made-up keys while Redis is slow: about a kilobyte each. */
const MAX_LOOK_UPS = 10_000;

export class KeyDirectory {
  readonly #known = new Map<string, Caller>();
  /** Monotonic milliseconds until which a hash counts as unknown. Separate, so that made-up keys evict no real ones. */
  readonly #unknown = new Map<string, number>();
  /** Look-ups in progress, by hash. */
  readonly #lookUps = new Map<string, Promise<Caller | null>>();
  readonly #options: Required<KeyDirectoryOptions>;

  constructor(options: KeyDirectoryOptions) {
    this.#options = { maxEntries: DEFAULT_MAX_ENTRIES, unknownForMs: DEFAULT_UNKNOWN_FOR_MS, ...options };
  }

  /** Returns the caller with this well-formed key, or null for an unknown key. Rejects if Redis fails. */
  async find(key: string): Promise<Caller | null> {
    const presentedHash = hashKey(key);
    const known = this.#known.get(presentedHash);
    if (known !== undefined) return known;
    if ((this.#unknown.get(presentedHash) ?? 0) > this.#options.clock.monotonicMs()) return null;
    return this.#lookUps.get(presentedHash) ?? this.#startLookUp(presentedHash);
  }

  /** Removes a caller whose key no longer has this hash, as admission found: the next request looks it up again. */
  remove(presentedHash: string): void {
    this.#known.delete(presentedHash);
  }

  #startLookUp(presentedHash: string): Promise<Caller | null> {
    if (this.#lookUps.size >= MAX_LOOK_UPS) {
      return Promise.reject(new Error("too many keys are being looked up"));
    }
    const lookUp = this.#lookUp(presentedHash).finally(() => this.#lookUps.delete(presentedHash));
    this.#lookUps.set(presentedHash, lookUp);
    return lookUp;
  }

  async #lookUp(presentedHash: string): Promise<Caller | null> {
    const { lookUp, clock, maxEntries, unknownForMs } = this.#options;
    const reference = await lookUp(presentedHash);
    if (reference === null) {
      setBounded(this.#unknown, presentedHash, clock.monotonicMs() + unknownForMs, MAX_UNKNOWN_ENTRIES);
      return null;
    }
    const { organizationId, keyId } = reference;
    const caller = { organizationId, keyId, presentedHash, userId: null, groupId: null };
    setBounded(this.#known, presentedHash, caller, maxEntries);
    return caller;
  }
}
