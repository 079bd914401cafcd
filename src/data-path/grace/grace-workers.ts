import type { Store } from "../store/types.ts";
import type { GraceOutage } from "./grace-outage.ts";

export interface GraceWorkersOptions {
  readonly store: Pick<Store, "announceWorker">;
  /** This process's own id, which no other has. */
  readonly workerId: string;
  /** Workers of this host: what is assumed until Redis has told how many there are. */
  readonly workersOfHost: number;
  readonly outage: GraceOutage;
}

const INTERVAL_MS = 5_000;
/** A worker that died stops counting this long after its last sign of life. */
const COUNTS_FOR_MS = 20_000;

/**
 * How many workers of all hosts there are, as Redis last told: between so many a key's rate is shared while Redis is out
 * of reach. Asking it every five seconds also tells a worker without requests that Redis is unreachable.
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

  /** Tells the others that they need not share with this worker any more. Never rejects. */
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
