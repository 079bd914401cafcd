/**
 * Requests that ext_authz lets pass before Redis has decided. ext_proc, which Envoy calls next, waits for the
 * decision before anything goes upstream, and rejects the request if Redis does. So the Redis call overlaps with
 * Envoy's next call instead of preceding it.
 *
 * Only used if nothing but speed depends on it: the request goes through ext_proc on this same worker, its body is
 * small enough for Envoy to buffer it anyway, and the key's last request here was admitted and left enough requests
 * for all of its undecided ones. If Redis rejects such a request, its client gets the same error, one step later.
 *
 * If a client disconnects before ext_proc begins, the decision stays in memory until the request must be over. To
 * bound this memory, each key and each organization may use only a fraction of the free entries. Abandoned decisions
 * of one key do not block other keys, and once decided they do not reduce the key's own limit.
 */
import type { Caller } from "../../auth/key-directory.ts";
import type { Clock } from "../../../shared/time/clock.ts";
import type { RateState } from "../../limits/admission.ts";
import { setBounded } from "../../../shared/collections/set-bounded.ts";
import { ShortLivedMap } from "../../../shared/collections/short-lived-map.ts";
import { Tally } from "../../../shared/collections/tally.ts";
import type { Decision } from "./decision.ts";

export interface DeferredAdmissionsOptions {
  /** False while this worker drains: Envoy may call another one. */
  readonly isServing: () => boolean;
  readonly clock: Pick<Clock, "monotonicMs">;
}

/** An admission that ext_proc waits for. */
export interface AwaitedAdmission {
  /** Never rejects. */
  readonly decisionPromise: Promise<Decision>;
  /** The decision, once made. */
  decision: Decision | null;
}

/** Owner of a request. */
type Owner = Pick<Caller, "keyId" | "organizationId">;

interface Entry extends AwaitedAdmission, Owner {
  readonly requestId: string;
  readonly sinceMs: number;
}

interface Learned {
  readonly rate: RateState | null;
  readonly atMs: number;
}

const NOTHING_LEARNED: Learned = { rate: null, atMs: 0 };

/**
 * Well below the part of a body that Envoy reads in any case while ext_authz decides (docs/internals/envoy.md, "How
 * bodies come").
 */
const MAX_BODY_BYTES = 128 * 1024;
/** Maximum number of entries, about 2 kB each. Beyond it, ext_authz waits for the decision. */
const MAX_AWAITED = 10_000;
/** Fraction of the free entries that one key or organization may use, so that some always remain for others. */
const KEY_SHARE = 1 / 16;
const ORGANIZATION_SHARE = 1 / 4;
/** An entry of this age is abandoned: Envoy gives a request and its body a minute. */
const ABANDONED_AFTER_MS = 90_000;
const MAX_KEYS = 100_000;

export class DeferredAdmissions {
  readonly #options: DeferredAdmissionsOptions;
  /** By request id, oldest first. */
  readonly #awaited = new ShortLivedMap<string, Entry>();
  /** Number of waiting entries by key and by organization. */
  readonly #ofKey = new Tally();
  readonly #ofOrganization = new Tally();
  /** By key id: requests that Redis has not decided, abandoned ones included. */
  readonly #undecided = new Tally();
  /** By key id: the bucket after the key's last admission here; null if that was rejected. */
  readonly #learned = new Map<string, Learned>();

  constructor(options: DeferredAdmissionsOptions) {
    this.#options = options;
  }

  /**
   * Returns whether the request may pass before it is decided.
   * @param bodyBytes `content-length` of a request that goes through ext_proc; null if it does not, or if the length
   * is unknown.
   */
  canDefer(owner: Owner, bodyBytes: number | null): boolean {
    const isSmall = bodyBytes !== null && bodyBytes <= MAX_BODY_BYTES;
    if (!isSmall || !this.#options.isServing()) return false;
    this.#dropAbandoned();
    const { keyId } = owner;
    return (
      this.#hasShare(owner) && (this.#learned.get(keyId)?.rate?.remaining ?? 0) > this.#undecided.of(keyId)
    );
  }

  /** Lets the request pass. `take` collects the decision. */
  defer(requestId: string, { keyId, organizationId }: Owner, decisionPromise: Promise<Decision>): void {
    const sinceMs = this.#options.clock.monotonicMs();
    const entry: Entry = { requestId, keyId, organizationId, decisionPromise, decision: null, sinceMs };
    this.#awaited.set(requestId, entry);
    this.#ofKey.add(keyId, 1);
    this.#ofOrganization.add(organizationId, 1);
    this.#undecided.add(keyId, 1);
    const onDecided = (decision: Decision): void => {
      entry.decision = decision;
      this.#undecided.add(keyId, -1);
    };
    void decisionPromise.then(onDecided);
  }

  /** Returns and removes the admission, or null if another process let the request pass. */
  take(requestId: string): AwaitedAdmission | null {
    const awaited = this.#awaited.get(requestId) ?? null;
    if (awaited !== null) this.#drop(awaited);
    return awaited;
  }

  /** @param rate The key's bucket after an admission; null if the request was rejected. */
  learn(keyId: string, rate: RateState | null): void {
    setBounded(this.#learned, keyId, { rate, atMs: this.#options.clock.monotonicMs() }, MAX_KEYS);
  }

  /** Estimates the key's bucket after all undecided requests; null if unknown. */
  estimate(keyId: string): RateState | null {
    const { rate, atMs } = this.#learned.get(keyId) ?? NOTHING_LEARNED;
    if (rate === null) return null;
    const elapsedMs = this.#options.clock.monotonicMs() - atMs;
    const msPerRequest = 60_000 / rate.limit;
    const filled = Math.min(rate.capacity, rate.remaining + elapsedMs / msPerRequest);
    const remaining = Math.max(0, filled - this.#undecided.of(keyId));
    const resetMs = Math.ceil((rate.capacity - remaining) * msPerRequest);
    return { ...rate, remaining: Math.floor(remaining), resetMs, timeMs: rate.timeMs + elapsedMs };
  }

  #dropAbandoned(): void {
    const beforeMs = this.#options.clock.monotonicMs() - ABANDONED_AFTER_MS;
    for (const entry of this.#awaited.values()) {
      if (entry.sinceMs >= beforeMs) return;
      this.#drop(entry);
    }
  }

  #drop({ requestId, keyId, organizationId }: Entry): void {
    this.#awaited.delete(requestId);
    this.#ofKey.add(keyId, -1);
    this.#ofOrganization.add(organizationId, -1);
  }

  #hasShare({ keyId, organizationId }: Owner): boolean {
    const free = MAX_AWAITED - this.#awaited.size;
    return (
      this.#ofKey.of(keyId) < free * KEY_SHARE &&
      this.#ofOrganization.of(organizationId) < free * ORGANIZATION_SHARE
    );
  }
}
