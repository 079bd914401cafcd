/**
 * Closes orphaned requests: those whose worker or host died before settling them. Every host runs a reaper;
 * closing is one step in Redis that may be repeated, so reapers need no coordination. After an outage of
 * Redis it pauses, so that living owners can renew their deadlines first.
 * With strict caps, closing a request releases its reserved amount, and a paused worker that resumes would
 * then charge more than is left: such requests are closed 30 s later than others.
 */
import type { Clock } from "../../shared/time/clock.ts";
import { internalWait } from "../../shared/time/internal-waits.ts";
import type { Logger } from "../../shared/host/logger.ts";
import type { Store } from "../../shared/stored/store.ts";

export interface ReaperOptions {
  readonly store: Pick<Store, "listOrganizationIds" | "getOrganization" | "listOverdue" | "close">;
  readonly clock: Clock;
  /** Called for each request that this reaper closed. */
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
  /** Times since which requests under strict caps have been overdue, by request id. */
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

  /** Stops; resolves when the current sweep has ended. */
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
   * Closes all requests past their deadline and returns their number. Does nothing in the first 30 s after an
   * outage of Redis. Rejects if Redis fails.
   */
  async sweep(): Promise<number> {
    const { store, clock } = this.#options;
    // Also queried during the pause, which must start when Redis is back, not when it first failed.
    const organizationIds = await this.#watched(store.listOrganizationIds());
    if (clock.monotonicMs() - this.#failedAtMs < PAUSE_AFTER_OUTAGE_MS) return 0;
    let closed = 0;
    const remainingOverdue = new Map<string, number>();
    for (const organizationId of organizationIds) {
      closed += await this.#watched(this.#closeOverdue(organizationId, remainingOverdue));
    }
    this.#overdueSinceMs = remainingOverdue;
    return closed;
  }

  /** Records the time if Redis fails. */
  async #watched<Value>(answer: Promise<Value>): Promise<Value> {
    try {
      return await answer;
    } catch (error) {
      this.#failedAtMs = this.#options.clock.monotonicMs();
      throw error;
    }
  }

  /** @param remainingOverdue Receives the requests that stay open for now, with the time since which they are overdue. */
  async #closeOverdue(organizationId: string, remainingOverdue: Map<string, number>): Promise<number> {
    const { store, clock, onClosed } = this.#options;
    const overdue = await store.listOverdue(organizationId, MAX_AT_ONCE);
    if (overdue.length === 0) return 0;
    const isStrict = (await store.getOrganization(organizationId))?.strictCaps === true;
    let closed = 0;
    for (const request of overdue) {
      const since = this.#overdueSinceMs.get(request.requestId) ?? clock.monotonicMs();
      if (isStrict && clock.monotonicMs() - since < STRICT_DELAY_MS) {
        remainingOverdue.set(request.requestId, since);
      } else if ((await store.close(request)) === "closed") {
        closed += 1;
        onClosed();
      }
    }
    return closed;
  }
}
