/**
 * Closes what others left open: requests whose worker or host died before it could settle them. Every host runs one;
 * closing is one step in Redis that may be repeated, so they need not agree on who does it. After Redis was away it
 * pauses, so that owners that are alive can renew their deadlines first.
 *
 * With strict caps a request that is closed gives back what it held, and a worker that only stood still would come back
 * and charge more than is left: these are closed 30 s later than others.
 */
import type { Clock } from "../../shared/time/clock.ts";
import { internalWait } from "../../shared/time/internal-waits.ts";
import type { Logger } from "../../shared/host/logger.ts";
import type { Store } from "../store/types.ts";

export interface ReaperOptions {
  readonly store: Pick<Store, "listOrganizationIds" | "getOrganization" | "listOverdue" | "close">;
  readonly clock: Clock;
  /** A request was closed by this reaper. */
  readonly onClosed: () => void;
  readonly logger: Logger<"info" | "warn">;
}

const INTERVAL_MS = internalWait(5_000);
const PAUSE_AFTER_OUTAGE_MS = internalWait(30_000);
const STRICT_DELAY_MS = internalWait(30_000);
const MAX_AT_ONCE = 200;

export class Reaper {
  readonly #options: ReaperOptions;
  #timer: NodeJS.Timeout | null = null;
  #running: Promise<void> | null = null;
  #failedAtMs = -Infinity;
  /** Since when requests under strict caps have been seen overdue. */
  #overdueSinceMs = new Map<string, number>();

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
    const { logger } = this.#options;
    try {
      const closed = await this.sweep();
      if (closed > 0) logger.info({ closed }, "closed requests of dead workers");
    } catch (error) {
      logger.warn({ err: error }, "overdue requests not closed, retrying");
    }
  }

  /**
   * Closes everything that is past its deadline; returns how many requests that were. Nothing in the first 30 s after
   * an outage of Redis. Rejects when Redis fails.
   */
  async sweep(): Promise<number> {
    const { store, clock } = this.#options;
    // Asked in the pause too: it must begin when Redis is back, not when it was first missed.
    const organizationIds = await this.#watched(store.listOrganizationIds());
    if (clock.monotonicMs() - this.#failedAtMs < PAUSE_AFTER_OUTAGE_MS) return 0;
    let closed = 0;
    const stillOverdue = new Map<string, number>();
    for (const organizationId of organizationIds) {
      closed += await this.#watched(this.#closeOverdue(organizationId, stillOverdue));
    }
    this.#overdueSinceMs = stillOverdue;
    return closed;
  }

  /** Remembers when Redis failed last. */
  async #watched<Value>(answer: Promise<Value>): Promise<Value> {
    try {
      return await answer;
    } catch (error) {
      this.#failedAtMs = this.#options.clock.monotonicMs();
      throw error;
    }
  }

  /** @param stillOverdue Gets what is left open for now, and since when. */
  async #closeOverdue(organizationId: string, stillOverdue: Map<string, number>): Promise<number> {
    const { store, clock, onClosed } = this.#options;
    const overdue = await store.listOverdue(organizationId, MAX_AT_ONCE);
    if (overdue.length === 0) return 0;
    const isStrict = (await store.getOrganization(organizationId))?.strictCaps === true;
    let closed = 0;
    for (const request of overdue) {
      const since = this.#overdueSinceMs.get(request.requestId) ?? clock.monotonicMs();
      if (isStrict && clock.monotonicMs() - since < STRICT_DELAY_MS) {
        stillOverdue.set(request.requestId, since);
      } else if ((await store.close(request)) === "closed") {
        closed += 1;
        onClosed();
      }
    }
    return closed;
  }
}
