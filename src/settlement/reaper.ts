/**
 * Closes what others left open: requests whose worker or host died before it could settle them. Every host runs one;
 * closing is one step in Redis that may be repeated, so they need not agree on who does it. After Redis was away it
 * pauses, so that owners that are alive can renew their deadlines first.
 */
import type { Clock } from "../clock.ts";
import type { Store } from "../store/types.ts";

export interface ReaperOptions {
  readonly store: Pick<Store, "listOrganizationIds" | "listOverdue" | "close">;
  readonly clock: Clock;
  readonly logger: {
    info(fields: object, message: string): void;
    warn(fields: object, message: string): void;
  };
}

const INTERVAL_MS = 5_000;
const PAUSE_AFTER_OUTAGE_MS = 30_000;
const MAX_AT_ONCE = 200;

export class Reaper {
  readonly #options: ReaperOptions;
  #timer: NodeJS.Timeout | null = null;
  #running: Promise<void> | null = null;
  #failedAtMs = -Infinity;

  constructor(options: ReaperOptions) {
    this.#options = options;
  }

  start(): void {
    this.#timer = setInterval(() => {
      this.#running ??= this.#sweepSafely().finally(() => {
        this.#running = null;
      });
    }, INTERVAL_MS);
    this.#timer.unref();
  }

  /** Resolves when the sweep that runs is over. */
  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    await this.#running;
  }

  async #sweepSafely(): Promise<void> {
    const { clock, logger } = this.#options;
    try {
      const closed = await this.sweep();
      if (closed > 0) logger.info({ closed }, "requests that their workers left open were closed");
    } catch (error) {
      this.#failedAtMs = clock.monotonicMs();
      logger.warn({ err: error }, "overdue requests could not be closed; trying again after a pause");
    }
  }

  /**
   * Closes everything that is past its deadline; returns how many requests that were. Nothing in the first 30 s after
   * an outage of Redis. Rejects when Redis fails.
   */
  async sweep(): Promise<number> {
    const { store, clock } = this.#options;
    // Asked in the pause too: it must begin when Redis is back, not when it was first missed.
    const organizationIds = await store.listOrganizationIds();
    if (clock.monotonicMs() - this.#failedAtMs < PAUSE_AFTER_OUTAGE_MS) return 0;
    let closed = 0;
    for (const organizationId of organizationIds) closed += await this.#closeOverdue(organizationId);
    return closed;
  }

  async #closeOverdue(organizationId: string): Promise<number> {
    const { store } = this.#options;
    let closed = 0;
    for (const request of await store.listOverdue(organizationId, MAX_AT_ONCE)) {
      if ((await store.close(request)) === "closed") closed += 1;
    }
    return closed;
  }
}
