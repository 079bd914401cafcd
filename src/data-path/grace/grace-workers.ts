import type { Store } from "../../shared/stored/store.ts";
import type { GraceOutage } from "./grace-outage.ts";

export interface GraceWorkersOptions {
  readonly store: Pick<Store, "announceWorker">;
  /** Unique id of this process. */
  readonly workerId: string;
  /** Workers of this host: assumed until Redis has reported the number. */
  readonly workersOfHost: number;
  readonly outage: GraceOutage;
}

const INTERVAL_MS = 5_000;
/** Time after its last announcement when a dead worker stops counting. */
const COUNTS_FOR_MS = 20_000;

/**
 * Number of workers on all hosts, by Redis's last reply, which share a key's rate while Redis is unreachable.
 * The announcement every five seconds also detects an outage in a worker without requests.
 */
export class GraceWorkers {
  readonly #options: GraceWorkersOptions;
  #count: number;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: GraceWorkersOptions) {
    this.#options = options;
    this.#count = options.workersOfHost;
  }

  get count(): number {
    return this.#count;
  }

  start(): void {
    void this.#announce();
    this.#timer = setInterval(() => void this.#announce(), INTERVAL_MS);
    this.#timer.unref();
  }

  /** Unregisters this worker, so that the others need not share with it. Never rejects. */
  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    const { store, workerId } = this.#options;
    await store.announceWorker(workerId, 0).catch(() => 0);
  }

  /** Never rejects. */
  async #announce(): Promise<void> {
    const { store, workerId, workersOfHost, outage } = this.#options;
    try {
      const count = await store.announceWorker(workerId, COUNTS_FOR_MS);
      this.#count = Math.max(workersOfHost, count);
      outage.reached(null);
    } catch {
      outage.missed(null);
    }
  }
}
