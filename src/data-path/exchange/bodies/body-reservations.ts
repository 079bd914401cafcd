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
 * Bodies from this size on are reserved; smaller ones are counted as they arrive. A waiting body counts for this
 * size, and Envoy may buffer this much of it.
 */
export const LARGE_BYTES = 2 * 1024 ** 2;
/** Fractions of an owner's share for large bodies: for arriving ones, and for arriving and waiting ones together. */
const ARRIVING_SHARE = 1 / 2;
const ARRIVING_AND_WAITING_SHARE = 3 / 4;
const MAX_WAIT_MS = 20_000;

/** Shares of memory per owner, see `BodyBudget.take`. */
interface Shares {
  take(owner: BodyOwner, bytes: number, countedOfBody: number, part: number): void;
}

interface Waiting {
  readonly owner: BodyOwner;
  readonly bytes: number;
  readonly begin: () => void;
}

/** The memory reserved for one body. */
export interface BodyReservation {
  /** Bytes counted for the body now. */
  readonly bytes: number;
  /**
   * Undefined if the body may arrive now. Otherwise resolves once all of it fits, and rejects with GatewayError 429
   * `buffer_limit_exceeded` on timeout.
   */
  readonly turn: Promise<void> | undefined;
  /** Stops waiting; counted bytes stay counted. */
  readonly stopWaiting: () => void;
}

export class BodyReservations {
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
  take(owner: BodyOwner, bytes: number): BodyReservation {
    if (bytes < LARGE_BYTES) return { bytes: 0, turn: undefined, stopWaiting: nothing };
    const isFirst = this.#waiting.every((one) => one.owner.keyId !== owner.keyId);
    if (isFirst && this.#tryTake(owner, bytes)) return { bytes, turn: undefined, stopWaiting: nothing };
    this.#budget.take(owner, LARGE_BYTES, 0, ARRIVING_AND_WAITING_SHARE);
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

  #wait(owner: BodyOwner, bytes: number): BodyReservation {
    const { promise, resolve } = createDeferred<void>();
    // A stream that has ended no longer awaits its turn.
    promise.catch(nothing);
    const reservation = {
      bytes: LARGE_BYTES,
      turn: promise,
      stopWaiting: () => this.#stopWaiting(waiting, timer),
    };
    const begin = (): void => {
      reservation.stopWaiting();
      reservation.bytes = bytes;
      resolve();
    };
    const waiting: Waiting = { owner, bytes, begin };
    const timer = setTimeout(() => {
      reservation.stopWaiting();
      resolve(Promise.reject(new GatewayError("buffer_limit_exceeded")));
    }, this.#maxWaitMs);
    this.#waiting.push(waiting);
    return reservation;
  }

  #stopWaiting(waiting: Waiting, timer: NodeJS.Timeout): void {
    clearTimeout(timer);
    const index = this.#waiting.indexOf(waiting);
    if (index !== -1) this.#waiting.splice(index, 1);
  }

  /** Starts the waiting bodies that fit. Bodies of one key start in their order of arrival. */
  #next(): void {
    const blockedKeys = new Set<string>();
    for (const { owner, bytes, begin } of this.#waiting.slice()) {
      if (blockedKeys.has(owner.keyId)) continue;
      if (this.#tryTake(owner, bytes - LARGE_BYTES)) begin();
      else blockedKeys.add(owner.keyId);
    }
  }

  /**
   * Reserves a body's memory if it fits. Always accepts one body per organization, because waiting bodies would
   * otherwise wait for each other.
   */
  #tryTake(owner: BodyOwner, bytes: number): boolean {
    const waiting = this.#waiting.filter((one) => one.owner.organizationId === owner.organizationId);
    try {
      this.#budget.take(owner, bytes, waiting.length * LARGE_BYTES, ARRIVING_SHARE);
      return true;
    } catch {
      return false;
    }
  }
}

function nothing(): void {}
