/**
 * Reserves memory for large bodies before they arrive. A body with a declared length reserves its length; one without
 * reserves the largest body once it has become large. If its owner uses much memory already, the body waits on the
 * client's side. So large bodies arrive one after the other, and bodies that never end use no more than their owner's
 * share.
 */
import { GatewayError } from "../../../shared/contract/errors.ts";
import { createDeferred } from "../../../shared/event-loop/deferred.ts";
import type { BodyOwner } from "./body-owner.ts";

/**
 * Smaller bodies are counted as they arrive. Also the most that Envoy may buffer of a waiting body, and the size that
 * a waiting body counts for.
 */
export const LARGE_BYTES = 2 * 1024 ** 2;
/** Fractions of an owner's share for large bodies: for arriving ones, and for arriving and waiting ones together. */
const PART_FOR_COMING = 1 / 2;
const PART_WITH_WAITING = 3 / 4;
const MAX_WAIT_MS = 20_000;

/** Shares of memory per owner, see `BodyBudget.take`. */
interface Shares {
  take(owner: BodyOwner, bytes: number, heldOfBody: number, part: number): void;
}

interface Waiting {
  readonly owner: BodyOwner;
  readonly bytes: number;
  readonly begin: () => void;
}

/** The memory reserved for one body. */
export interface Room {
  /** Bytes counted for the body now. */
  readonly bytes: number;
  /** Resolves when all of the body fits. Rejects with GatewayError 429 `buffer_limit_exceeded` on timeout. */
  readonly turn: Promise<void> | undefined;
  /** Stops waiting; counted bytes stay counted. */
  readonly stopWaiting: () => void;
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
   * @param bytes Declared size of the body.
   * @throws GatewayError as `BodyBudget.take`, if even a waiting body does not fit.
   */
  take(owner: BodyOwner, bytes: number): Room {
    if (bytes < LARGE_BYTES) return { bytes: 0, turn: undefined, stopWaiting: nothing };
    const isFirst = this.#waiting.every((one) => one.owner.keyId !== owner.keyId);
    if (isFirst && this.#hasTaken(owner, bytes)) return { bytes, turn: undefined, stopWaiting: nothing };
    this.#budget.take(owner, LARGE_BYTES, 0, PART_WITH_WAITING);
    return this.#wait(owner, bytes);
  }

  /** Memory was released: starts waiting bodies. */
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
    // A stream that has ended no longer awaits its turn.
    promise.catch(nothing);
    const room = { bytes: LARGE_BYTES, turn: promise, stopWaiting: () => this.#stopWaiting(waiting, timer) };
    const begin = (): void => {
      room.stopWaiting();
      room.bytes = bytes;
      resolve();
    };
    const waiting: Waiting = { owner, bytes, begin };
    const timer = setTimeout(() => {
      room.stopWaiting();
      resolve(Promise.reject(new GatewayError("buffer_limit_exceeded")));
    }, this.#maxWaitMs);
    this.#waiting.push(waiting);
    return room;
  }

  #stopWaiting(waiting: Waiting, timer: NodeJS.Timeout): void {
    clearTimeout(timer);
    const index = this.#waiting.indexOf(waiting);
    if (index !== -1) this.#waiting.splice(index, 1);
  }

  /** Starts bodies; those of one key in their order of arrival. */
  #next(): void {
    const behind = new Set<string>();
    for (const { owner, bytes, begin } of this.#waiting.slice()) {
      if (behind.has(owner.keyId)) continue;
      if (this.#hasTaken(owner, bytes - LARGE_BYTES)) begin();
      else behind.add(owner.keyId);
    }
  }

  /** One body of an organization is always accepted, because waiting bodies would otherwise wait for each other. */
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
