/**
 * Turns of large bodies. To read a body takes several times its bytes, for as long as it is worked on: milliseconds, and a
 * round trip to Redis. Where that is more than the worker has left, bodies wait for one another instead of being refused,
 * organization by organization, and what comes meanwhile is served between two of them.
 */
import { GatewayError } from "../../../shared/contract/errors.ts";

/** Of the body's bytes; smaller ones do not wait, and are counted alone. */
const LARGE_BYTES = 256 * 1024;
/** Twice what the work itself may take: after each step the event loop rests for as long. */
const MAX_WAIT_MS = 8_000;

/** What a worker has left. */
interface WorkRoom {
  /** Whether work that takes so much fits in. */
  hasRoomForWork(bytes: number): boolean;
  /** @param bytes Negative: it is done, or takes less. */
  countWork(bytes: number): void;
}

interface Waiting {
  readonly organizationId: string;
  readonly workBytes: number;
  readonly begin: () => void;
}

export class BodyWork {
  readonly #budget: WorkRoom;
  readonly #maxWaitMs: number;
  readonly #waiting: Waiting[] = [];
  #lastOrganizationId: string | null = null;

  constructor(budget: WorkRoom, maxWaitMs = MAX_WAIT_MS) {
    this.#budget = budget;
    this.#maxWaitMs = maxWaitMs;
  }

  /**
   * Counts what the work on a body takes, once there is room for it. A promise only where it has to wait; it rejects with a
   * GatewayError 503 `gateway_overloaded` where that takes too long, and nothing is counted then.
   */
  begin(organizationId: string, bodyBytes: number, workBytes: number): Promise<void> | undefined {
    const isLarge = bodyBytes >= LARGE_BYTES;
    if (!isLarge || (this.#waiting.length === 0 && this.#budget.hasRoomForWork(workBytes))) {
      if (isLarge) this.#lastOrganizationId = organizationId;
      this.#budget.countWork(workBytes);
      return undefined;
    }
    return this.#wait(organizationId, workBytes);
  }

  /** It takes so much more, or less, than was counted. */
  change(bytes: number): void {
    this.#budget.countWork(bytes);
  }

  end(workBytes: number): void {
    this.#budget.countWork(-workBytes);
    // What has come meanwhile is served first.
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

  /** Those of one organization do not stand before another's. */
  #next(): void {
    const other = this.#waiting.findIndex(
      ({ organizationId }) => organizationId !== this.#lastOrganizationId,
    );
    const index = Math.max(0, other);
    const waiting = this.#waiting[index];
    if (waiting === undefined || !this.#budget.hasRoomForWork(waiting.workBytes)) return;
    this.#waiting.splice(index, 1);
    this.#lastOrganizationId = waiting.organizationId;
    this.#budget.countWork(waiting.workBytes);
    waiting.begin();
    if (this.#waiting.length > 0) setImmediate(() => this.#next());
  }
}
