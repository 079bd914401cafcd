import type { Clock } from "../../shared/time/clock.ts";
import type { Logger } from "../../shared/host/logger.ts";
import { setBounded } from "../../shared/collections/set-bounded.ts";

export interface GraceOutageOptions {
  readonly clock: Pick<Clock, "monotonicMs">;
  /** How long known keys go on from the beginning of an outage; 0: not at all. */
  readonly graceMs: number;
  readonly logger: Logger<"warn">;
}

/** Organizations whose part of Redis is unreachable at a time; beyond it the newest are forgotten last. */
const MAX_ORGANIZATIONS = 50_000;
const TELL_INTERVAL_MS = 10_000;

/**
 * Since when Redis is unreachable: as a whole, and for each organization, since in a cluster one node can be away. The
 * grace period of an organization begins with the earlier of the two and ends for good until Redis has answered for it.
 */
export class GraceOutage {
  readonly #options: GraceOutageOptions;
  readonly #sinceMs = new Map<string, number>();
  #allSinceMs: number | null = null;
  #toldAtMs = -Infinity;
  #isTold = false;

  constructor(options: GraceOutageOptions) {
    this.#options = options;
  }

  /** Redis as a whole did not answer last. */
  get isOut(): boolean {
    return this.#allSinceMs !== null;
  }

  /** It has been out of reach for longer than any request may go on without it. */
  get isGraceOver(): boolean {
    if (this.#allSinceMs === null) return false;
    return this.#options.clock.monotonicMs() - this.#allSinceMs >= this.#options.graceMs;
  }

  /** Redis answered, for this organization or (null) for none in particular. */
  reached(organizationId: string | null): void {
    if (this.#allSinceMs !== null) {
      this.#allSinceMs = null;
      if (this.#isTold) this.#options.logger.warn({}, "redis reachable again");
      this.#isTold = false;
    }
    if (organizationId !== null && this.#sinceMs.size > 0) this.#sinceMs.delete(organizationId);
  }

  /** Redis did not answer, for this organization or (null) for none in particular. */
  missed(organizationId: string | null): void {
    const now = this.#options.clock.monotonicMs();
    if (this.#allSinceMs === null) {
      this.#allSinceMs = now;
      this.#tell(now);
    }
    if (organizationId === null || this.#sinceMs.has(organizationId)) return;
    setBounded(this.#sinceMs, organizationId, now, MAX_ORGANIZATIONS);
  }

  /** While one node of a cluster is away an outage ends and begins with every other request, so it is told now and then. */
  #tell(now: number): void {
    if (now - this.#toldAtMs < TELL_INTERVAL_MS) return;
    this.#toldAtMs = now;
    this.#isTold = true;
    this.#options.logger.warn({ grace_ms: this.#options.graceMs }, "redis unreachable");
  }

  /** Whether requests of this organization may go on without Redis, now or when Redis is missed for it now. */
  isInGrace(organizationId: string): boolean {
    const nowMs = this.#options.clock.monotonicMs();
    const since = this.#sinceMs.get(organizationId) ?? nowMs;
    return nowMs - Math.min(since, this.#allSinceMs ?? nowMs) < this.#options.graceMs;
  }
}
