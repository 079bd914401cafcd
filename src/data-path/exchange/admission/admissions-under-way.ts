/**
 * Requests that ext_authz lets pass before Redis has decided: ext_proc, which Envoy calls next, waits for the decision
 * before anything goes upstream, and refuses what is refused. Redis is asked in the time that Envoy needs for its next call,
 * and not before it.
 *
 * Only where nothing but speed depends on it: a request that goes through ext_proc, to this very worker, with a body that
 * Envoy has buffered by then anyway, of a key whose last request here was admitted and left room for those of its own that
 * are not decided. What this guesses wrong is refused all the same, one step later.
 *
 * A client that goes away before its body has come is never heard of again, and its decision stays until nobody can come
 * for it. So what is kept is shared: nobody has more of it than a part of what is free, and what one key
 * leaves behind neither stops another's requests here nor counts against its own once they are decided.
 */
import type { Caller } from "../../auth/key-directory.ts";
import type { Clock } from "../../../shared/time/clock.ts";
import type { RateState } from "../../limits/rate-headers.ts";
import { setBounded } from "../../../shared/collections/set-bounded.ts";
import { ShortLivedMap } from "../../../shared/collections/short-lived-map.ts";
import { Tally } from "../../../shared/collections/tally.ts";
import type { Decision } from "./decision.ts";

export interface UnderWayOptions {
  /** Whether the ext_proc call of each request comes to the worker that ext_authz asked. */
  readonly isSameWorker: () => boolean;
  readonly clock: Pick<Clock, "monotonicMs">;
}

/** An admission that ext_proc waits for. */
export interface AwaitedAdmission {
  /** Never rejects. */
  readonly decided: Promise<Decision>;
  /** The same once it is there. */
  decision: Decision | null;
}

/** Whose request it is. */
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

/** Well below what Envoy reads of a body in any case while ext_authz decides (docs/internals/envoy.md, "How bodies come"). */
const MAX_BODY_BYTES = 128 * 1024;
/** Some 2 kB each. Beyond it ext_authz waits. */
const MAX_AWAITED = 10_000;
/**
 * A key, and an organization, has at most this part of what is still free. However many take all that they may, something
 * is left for the next, while one alone, with nobody beside it, has what it can use.
 */
const KEY_SHARE = 1 / 16;
const ORGANIZATION_SHARE = 1 / 4;
/** Nobody comes for it any more: Envoy gives a request and its body a minute. */
const ABANDONED_AFTER_MS = 90_000;
const MAX_KEYS = 100_000;

export class AdmissionsUnderWay {
  readonly #options: UnderWayOptions;
  /** By request id, the oldest first. */
  readonly #awaited = new ShortLivedMap<string, Entry>();
  /** Of these, how many a key and an organization have. */
  readonly #ofKey = new Tally();
  readonly #ofOrganization = new Tally();
  /** By key id: requests that Redis has not decided, whether or not anybody waits for them. */
  readonly #undecided = new Tally();
  /** By key id: its bucket as its last admission here has left it; null: it was refused. */
  readonly #learned = new Map<string, Learned>();

  constructor(options: UnderWayOptions) {
    this.#options = options;
  }

  /** @param bodyBytes `content-length` of a request that goes through ext_proc; null: it does not, or nobody knows. */
  mayPass(owner: Owner, bodyBytes: number | null): boolean {
    const isSmall = bodyBytes !== null && bodyBytes <= MAX_BODY_BYTES;
    if (!isSmall || !this.#options.isSameWorker()) return false;
    this.#dropAbandoned();
    const { keyId } = owner;
    return (
      this.#hasShare(owner) && (this.#learned.get(keyId)?.rate?.remaining ?? 0) > this.#undecided.of(keyId)
    );
  }

  /** The request goes on; `take` is called next. */
  pass(requestId: string, { keyId, organizationId }: Owner, decided: Promise<Decision>): void {
    const sinceMs = this.#options.clock.monotonicMs();
    const entry: Entry = { requestId, keyId, organizationId, decided, decision: null, sinceMs };
    this.#awaited.set(requestId, entry);
    this.#ofKey.add(keyId, 1);
    this.#ofOrganization.add(organizationId, 1);
    this.#undecided.add(keyId, 1);
    const keep = (decision: Decision): void => {
      entry.decision = decision;
      this.#undecided.add(keyId, -1);
    };
    void decided.then(keep);
  }

  /** For the one who waits for it; null: another process let it pass. */
  take(requestId: string): AwaitedAdmission | null {
    const awaited = this.#awaited.get(requestId) ?? null;
    if (awaited !== null) this.#drop(awaited);
    return awaited;
  }

  /** @param rate As a request's admission has left the key's bucket; null: it was refused. */
  learn(keyId: string, rate: RateState | null): void {
    setBounded(this.#learned, keyId, { rate, atMs: this.#options.clock.monotonicMs() }, MAX_KEYS);
  }

  /** The key's bucket behind all that is not decided, as it is likely to become; null: nobody knows. */
  estimate(keyId: string): RateState | null {
    const { rate, atMs } = this.#learned.get(keyId) ?? NOTHING_LEARNED;
    if (rate === null) return null;
    const elapsedMs = this.#options.clock.monotonicMs() - atMs;
    const msPerRequest = 60_000 / rate.limit;
    const filled = Math.min(rate.capacity, rate.remaining + elapsedMs / msPerRequest);
    const left = Math.max(0, filled - this.#undecided.of(keyId));
    const resetMs = Math.ceil((rate.capacity - left) * msPerRequest);
    return { ...rate, remaining: Math.floor(left), resetMs, timeMs: rate.timeMs + elapsedMs };
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
