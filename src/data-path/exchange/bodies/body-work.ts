/**
 * Schedules work on large bodies. Reading a body takes several times its size, during the work: milliseconds and a
 * round trip to Redis. If the worker has not enough memory, bodies wait instead of being rejected, organizations take
 * turns, and other requests are served between two bodies.
 */
import { GatewayError } from "../../../shared/contract/errors.ts";

/** In bytes of the body; smaller bodies never wait. */
const LARGE_BYTES = 256 * 1024;
/** Twice the time of the work itself: after each step the event loop rests for as long. */
const MAX_WAIT_MS = 8_000;

/** Free memory of a worker. */
interface WorkMemory {
  /** Returns whether work of this size fits. */
  fitsWork(bytes: number): boolean;
  /** @param bytes Negative when the work ends or needs less. */
  countWork(bytes: number): void;
}

interface Waiting {
  readonly organizationId: string;
  readonly workBytes: number;
  readonly begin: () => void;
}

export class BodyWork {
  readonly #budget: WorkMemory;
  readonly #maxWaitMs: number;
  readonly #waiting: Waiting[] = [];
  #lastOrganizationId: string | null = null;

  constructor(budget: WorkMemory, maxWaitMs = MAX_WAIT_MS) {
    this.#budget = budget;
    this.#maxWaitMs = maxWaitMs;
  }

  /**
   * Counts the memory that work on a body needs. Returns a promise only if it has to wait; the promise rejects with
   * GatewayError 503 `gateway_overloaded` on timeout, and nothing is counted then.
   */
  begin(organizationId: string, bodyBytes: number, workBytes: number): Promise<void> | undefined {
    const isLarge = bodyBytes >= LARGE_BYTES;
    if (!isLarge || (this.#waiting.length === 0 && this.#budget.fitsWork(workBytes))) {
      if (isLarge) this.#lastOrganizationId = organizationId;
      this.#budget.countWork(workBytes);
      return undefined;
    }
    return this.#wait(organizationId, workBytes);
  }

  /** Changes the counted memory by this many bytes. */
  change(bytes: number): void {
    this.#budget.countWork(bytes);
  }

  end(workBytes: number): void {
    this.#budget.countWork(-workBytes);
    // Serves requests that arrived meanwhile first.
    if (this.#waiting.length > 0) setImmediate(() => this.#next());
  }

  #wait(organizationId: string, workBytes: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        reject(new GatewayError("gateway_overloaded"));
      }, this.#maxWaitMs);
      const begin = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const waiting: Waiting = { organizationId, workBytes, begin };
      this.#waiting.push(waiting);
    });
  }

  /** Takes turns between organizations. */
  #next(): void {
    const other = this.#waiting.findIndex(
      ({ organizationId }) => organizationId !== this.#lastOrganizationId,
    );
    const index = Math.max(0, other);
    const waiting = this.#waiting[index];
    if (waiting === undefined || !this.#budget.fitsWork(waiting.workBytes)) return;
    this.#waiting.splice(index, 1);
    this.#lastOrganizationId = waiting.organizationId;
    this.#budget.countWork(waiting.workBytes);
    waiting.begin();
    if (this.#waiting.length > 0) setImmediate(() => this.#next());
  }
}
