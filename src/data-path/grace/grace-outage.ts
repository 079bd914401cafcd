import type { Clock } from "../../shared/time/clock.ts";
import type { Logger } from "../../shared/host/logger.ts";
import { setBounded } from "../../shared/collections/set-bounded.ts";

export interface GraceOutageOptions {
  readonly clock: Pick<Clock, "monotonicMs">;
  /** Time from the start of an outage for which known keys keep working; 0: none. */
  readonly graceMs: number;
  readonly logger: Logger<"warn">;
}

/** Bound of organizations whose part of Redis is unreachable; evicts the oldest first. */
const MAX_ORGANIZATIONS = 50_000;
const LOG_INTERVAL_MS = 10_000;

/**
 * Start of the outage: of Redis as a whole, and of each organization, since in a cluster a single node can be
 * unreachable. An organization's grace period starts with the earlier of the two; once over, it does not
 * start again until Redis has answered for the organization.
 */
export class GraceOutage {
  readonly #options: GraceOutageOptions;
  readonly #sinceMs = new Map<string, number>();
  #allSinceMs: number | null = null;
  #loggedAtMs = -Infinity;
  #isLogged = false;

  constructor(options: GraceOutageOptions) {
    this.#options = options;
  }

  /** True if Redis as a whole did not answer last time. */
  get isOut(): boolean {
    return this.#allSinceMs !== null;
  }

  /** True if it has been unreachable for longer than the grace period. */
  get isGraceOver(): boolean {
    if (this.#allSinceMs === null) return false;
    return this.#options.clock.monotonicMs() - this.#allSinceMs >= this.#options.graceMs;
  }

  /** Call when Redis answered, for this organization or (null) for none in particular. */
  reached(organizationId: string | null): void {
    if (this.#allSinceMs !== null) {
      this.#allSinceMs = null;
      if (this.#isLogged) this.#options.logger.warn({}, "redis reachable again");
      this.#isLogged = false;
    }
    if (organizationId !== null && this.#sinceMs.size > 0) this.#sinceMs.delete(organizationId);
  }

  /** Call when Redis did not answer, for this organization or (null) for none in particular. */
  missed(organizationId: string | null): void {
    const now = this.#options.clock.monotonicMs();
    if (this.#allSinceMs === null) {
      this.#allSinceMs = now;
      this.#log(now);
    }
    if (organizationId === null || this.#sinceMs.has(organizationId)) return;
    setBounded(this.#sinceMs, organizationId, now, MAX_ORGANIZATIONS);
  }

  /**
   * Reports outages at a limited rate: while one node of a cluster is unreachable, an outage ends and starts
   * with every other request.
   */
  #log(now: number): void {
    if (now - this.#loggedAtMs < LOG_INTERVAL_MS) return;
    this.#loggedAtMs = now;
    this.#isLogged = true;
    this.#options.logger.warn({ grace_ms: this.#options.graceMs }, "redis unreachable");
  }

  /** Returns whether requests of this organization may continue without Redis, now or if Redis fails now. */
  isInGrace(organizationId: string): boolean {
    const nowMs = this.#options.clock.monotonicMs();
    const since = this.#sinceMs.get(organizationId) ?? nowMs;
    return nowMs - Math.min(since, this.#allSinceMs ?? nowMs) < this.#options.graceMs;
  }
}
