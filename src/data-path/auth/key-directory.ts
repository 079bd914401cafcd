/**
 * Who calls, second half: from a key's hash to the organization and key that it belongs to. The pair never changes, so
 * the cache needs no invalidation, and nothing here decides access: admission checks the presented hash against the
 * key's record on every request. When Redis is unreachable the look-up fails and the request is refused; a worker that
 * has just started, which knows nobody, asks once for all requests of a key that come meanwhile.
 */
import type { Clock } from "../../shared/time/clock.ts";
import { setBounded } from "../../shared/collections/set-bounded.ts";
import type { KeyReference } from "../store/types/admission.ts";
import { hashKey } from "./key-format.ts";

/** A caller: the key's identity and the hash that was presented. */
export interface Caller extends KeyReference {
  /** SHA-256 of the key, hex; of one without a secret what stands in its place. */
  readonly presentedHash: string;
  /** The user whose the key must be, where the caller has come with a token. */
  readonly userId: string | null;
  /** The group that a token says; null: the key's own, else its user's. */
  readonly groupId: string | null;
}

export interface KeyDirectoryOptions {
  readonly lookUp: (hash: string) => Promise<KeyReference | null>;
  readonly clock: Clock;
  /** The most entries that are kept; the oldest goes first. About 250 bytes each. */
  readonly maxEntries?: number;
  /** How long it is remembered that a key is unknown: shields Redis from a client that retries a wrong key. */
  readonly unknownForMs?: number;
}

const DEFAULT_MAX_ENTRIES = 100_000;
const DEFAULT_UNKNOWN_FOR_MS = 3_000;
const MAX_UNKNOWN_ENTRIES = 10_000;
/** Anybody may present made-up keys, and a slow Redis has them wait: about a kilobyte each. */
const MAX_LOOK_UPS = 10_000;

export class KeyDirectory {
  readonly #known = new Map<string, Caller>();
  /** Hash → monotonic milliseconds until which it counts as unknown. Apart, so that made-up keys evict no real ones. */
  readonly #unknown = new Map<string, number>();
  /** Keys that Redis is being asked for. */
  readonly #asked = new Map<string, Promise<Caller | null>>();
  readonly #options: Required<KeyDirectoryOptions>;

  constructor(options: KeyDirectoryOptions) {
    this.#options = { maxEntries: DEFAULT_MAX_ENTRIES, unknownForMs: DEFAULT_UNKNOWN_FOR_MS, ...options };
  }

  /** The caller that presents this well-formed key, or null for a key that nobody has. Rejects when Redis fails. */
  async find(key: string): Promise<Caller | null> {
    const presentedHash = hashKey(key);
    const known = this.#known.get(presentedHash);
    if (known !== undefined) return known;
    if ((this.#unknown.get(presentedHash) ?? 0) > this.#options.clock.monotonicMs()) return null;
    return this.#asked.get(presentedHash) ?? this.#ask(presentedHash);
  }

  /** Admission found that the hash is no longer the key's: the next request looks again. */
  forget(presentedHash: string): void {
    this.#known.delete(presentedHash);
  }

  #ask(presentedHash: string): Promise<Caller | null> {
    if (this.#asked.size >= MAX_LOOK_UPS) {
      return Promise.reject(new Error("too many keys are being looked up"));
    }
    const asking = this.#lookUp(presentedHash).finally(() => this.#asked.delete(presentedHash));
    this.#asked.set(presentedHash, asking);
    return asking;
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
