/**
 * Requests that ext_authz lets pass before Redis has decided: ext_proc, which Envoy calls next, waits for the decision
 * before anything goes upstream, and refuses what is refused. Redis is asked in the time that Envoy needs for its next call,
 * and not before it.
 *
 * Only where nothing but speed depends on it: a request that goes through ext_proc, to this very worker, with a body that
 * Envoy has buffered by then anyway, of a key whose last request here was admitted and left room for those under way. What
 * this guesses wrong is refused all the same, one step later.
 */
import type { Clock } from "../clock.ts";
import { setBounded } from "../set-bounded.ts";
import { ShortLivedMap } from "../short-lived-map.ts";
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

interface Entry extends AwaitedAdmission {
  readonly requestId: string;
  readonly sinceMs: number;
}

/** Well below what Envoy reads of a body in any case while ext_authz decides (docs/envoy.md, "Body limits"). */
const MAX_BODY_BYTES = 128 * 1024;
/** Some 2 kB each. Beyond it ext_authz waits. */
const MAX_AWAITED = 10_000;
/** Nobody comes for it any more: Envoy gives a request and its body a minute. */
const ABANDONED_AFTER_MS = 90_000;
const MAX_KEYS = 100_000;

export class AdmissionsUnderWay {
  readonly #options: UnderWayOptions;
  /** By request id, the oldest first. */
  readonly #awaited = new ShortLivedMap<string, Entry>();
  /** By key id: whole requests that its last admission here has left it. */
  readonly #room = new Map<string, number>();

  constructor(options: UnderWayOptions) {
    this.#options = options;
  }

  /** @param bodyBytes `content-length` of a request that goes through ext_proc; null: it does not, or nobody knows. */
  mayPass(keyId: string, bodyBytes: number | null): boolean {
    const isSmall = bodyBytes !== null && bodyBytes <= MAX_BODY_BYTES;
    if (!isSmall || !this.#options.isSameWorker()) return false;
    this.#dropAbandoned();
    const { size } = this.#awaited;
    return size < MAX_AWAITED && (this.#room.get(keyId) ?? 0) > size;
  }

  /** The request goes on; `take` is called next. */
  pass(requestId: string, decided: Promise<Decision>): void {
    const sinceMs = this.#options.clock.monotonicMs();
    const entry: Entry = { requestId, decided, decision: null, sinceMs };
    this.#awaited.set(requestId, entry);
    const keep = (decision: Decision): void => {
      entry.decision = decision;
    };
    void decided.then(keep);
  }

  /** For the one who waits for it; null: another process let it pass. */
  take(requestId: string): AwaitedAdmission | null {
    const awaited = this.#awaited.get(requestId) ?? null;
    this.#awaited.delete(requestId);
    return awaited;
  }

  /** @param room Whole requests left; 0: it was refused. */
  learn(keyId: string, room: number): void {
    setBounded(this.#room, keyId, room, MAX_KEYS);
  }

  #dropAbandoned(): void {
    const beforeMs = this.#options.clock.monotonicMs() - ABANDONED_AFTER_MS;
    for (const { requestId, sinceMs } of this.#awaited.values()) {
      if (sinceMs >= beforeMs) return;
      this.#awaited.delete(requestId);
    }
  }
}
