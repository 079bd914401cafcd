/**
 * Room for large bodies before they come. A body that says its length takes room for all of it; another one, once it is
 * large, for the most that a body may have. Where its key or organization holds much already, it waits with its client. So
 * many large bodies at once are taken in one after the other, and those that never end hold no more than their owner's share.
 */
import { GatewayError } from "../../../shared/contract/errors.ts";
import { createDeferred } from "../../../shared/event-loop/deferred.ts";
import type { BodyOwner } from "./body-owner.ts";

/** Smaller bodies count as they come. It is also what Envoy may hold of a body that waits, and what one counts for. */
export const LARGE_BYTES = 2 * 1024 ** 2;
/** The parts of an owner's share that large bodies take: those that come, and those with the ones that wait. */
const PART_FOR_COMING = 1 / 2;
const PART_WITH_WAITING = 3 / 4;
const MAX_WAIT_MS = 20_000;

/** What each owner may hold: `BodyBudget.take`. */
interface Shares {
  take(owner: BodyOwner, bytes: number, heldOfBody: number, part: number): void;
}

interface Waiting {
  readonly owner: BodyOwner;
  readonly bytes: number;
  readonly begin: () => void;
}

/** The room of one body. */
export interface Room {
  /** It is counted for the body now. */
  readonly bytes: number;
  /** There is room for all of it then. Rejects with a GatewayError 429 `buffer_limit_exceeded` where that takes too long. */
  readonly turn: Promise<void> | undefined;
  /** Nobody waits for it any more; what is counted stays so. */
  readonly leave: () => void;
}

export class BodyRoom {
  readonly #budget: Shares;
  readonly #maxWaitMs: number;
  readonly #waiting: Waiting[] = [];
  #isNextDue = false;

  constructor(budget: Shares, maxWaitMs = MAX_WAIT_MS) {
    this.#budget = budget;
    this.#maxWaitMs = maxWaitMs;
  }

  /**
   * @param bytes What the body says that it has.
   * @throws GatewayError as `BodyBudget.take`, where not even so many may wait.
   */
  take(owner: BodyOwner, bytes: number): Room {
    if (bytes < LARGE_BYTES) return { bytes: 0, turn: undefined, leave: nothing };
    const isFirst = this.#waiting.every((one) => one.owner.keyId !== owner.keyId);
    if (isFirst && this.#hasTaken(owner, bytes)) return { bytes, turn: undefined, leave: nothing };
    this.#budget.take(owner, LARGE_BYTES, 0, PART_WITH_WAITING);
    return this.#wait(owner, bytes);
  }

  /** Something was given back: those that wait may be next. */
  wake(): void {
    if (this.#isNextDue || this.#waiting.length === 0) return;
    this.#isNextDue = true;
    setImmediate(() => {
      this.#isNextDue = false;
      this.#next();
    });
  }

  #wait(owner: BodyOwner, bytes: number): Room {
    const { promise, resolve } = createDeferred<void>();
    // A stream that has ended meanwhile waits for no turn.
    promise.catch(nothing);
    const room = { bytes: LARGE_BYTES, turn: promise, leave: () => this.#leave(waiting, timer) };
    const begin = (): void => {
      room.leave();
      room.bytes = bytes;
      resolve();
    };
    const waiting: Waiting = { owner, bytes, begin };
    const timer = setTimeout(() => {
      room.leave();
      resolve(Promise.reject(new GatewayError("buffer_limit_exceeded")));
    }, this.#maxWaitMs);
    this.#waiting.push(waiting);
    return room;
  }

  #leave(waiting: Waiting, timer: NodeJS.Timeout): void {
    clearTimeout(timer);
    const index = this.#waiting.indexOf(waiting);
    if (index !== -1) this.#waiting.splice(index, 1);
  }

  /** Lets bodies begin; those of one key in the order in which they came. */
  #next(): void {
    const behind = new Set<string>();
    for (const { owner, bytes, begin } of this.#waiting.slice()) {
      if (behind.has(owner.keyId)) continue;
      if (this.#hasTaken(owner, bytes - LARGE_BYTES)) begin();
      else behind.add(owner.keyId);
    }
  }

  /** Whatever waits, one body of an organization is always taken: those that wait would wait for each other. */
  #hasTaken(owner: BodyOwner, bytes: number): boolean {
    const waiting = this.#waiting.filter((one) => one.owner.organizationId === owner.organizationId);
    try {
      this.#budget.take(owner, bytes, waiting.length * LARGE_BYTES, PART_FOR_COMING);
      return true;
    } catch {
      return false;
    }
  }
}

function nothing(): void {}
