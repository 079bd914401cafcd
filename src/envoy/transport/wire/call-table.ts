import { ShortLivedMap } from "../../../shared/collections/short-lived-map.ts";
import { END_WITHIN_MS, TICK_MS } from "./limits.ts";
import type { GrpcCall } from "./grpc-call.ts";

/** So many streams that we reset lately are remembered: what the peer had sent before it knew is passed over. */
const MAX_REMEMBERED_RESETS = 1_024;

/** It keeps the calls of one connection by the numbers of their streams, and until when each may last. */
export class CallTable {
  readonly #calls = new ShortLivedMap<number, GrpcCall>();
  readonly #resetIds = new Set<number>();
  #lastId = 0;

  get size(): number {
    return this.#calls.size;
  }

  /** The highest number that was begun. */
  get lastId(): number {
    return this.#lastId;
  }

  /** A number has been used, whether a stream comes of it or not. */
  use(id: number): void {
    this.#lastId = id;
  }

  find(id: number): GrpcCall | undefined {
    return this.#calls.get(id);
  }

  /** It lists all of them, though some may go meanwhile. */
  list(): GrpcCall[] {
    return [...this.#calls.values()];
  }

  /** Times here are of the last tick, hence the tick on top: nothing expires early. */
  add(call: GrpcCall, nowMs: number): void {
    this.#calls.set(call.id, call);
    const { timeoutMs } = call.headers;
    if (timeoutMs !== null) call.expiresAtMs = nowMs + timeoutMs + TICK_MS;
  }

  expectEnd(call: GrpcCall, nowMs: number): void {
    call.expiresAtMs = Number.POSITIVE_INFINITY;
    call.endsAtMs = nowMs + END_WITHIN_MS + TICK_MS;
  }

  /** It returns false when the call was not there. */
  remove(call: GrpcCall): boolean {
    return this.#calls.delete(call.id);
  }

  rememberReset(id: number): void {
    this.#resetIds.add(id);
    if (this.#resetIds.size <= MAX_REMEMBERED_RESETS) return;
    const [oldest] = this.#resetIds;
    if (oldest !== undefined) this.#resetIds.delete(oldest);
  }

  wasReset(id: number): boolean {
    return this.#resetIds.has(id);
  }

  /** It lists the calls whose time is over. */
  listExpired(nowMs: number): GrpcCall[] {
    return this.list().filter(({ expiresAtMs }) => expiresAtMs <= nowMs);
  }

  /** It lists the calls whose streams the peer should have ended by now. */
  listUnended(nowMs: number): GrpcCall[] {
    return this.list().filter(({ endsAtMs }) => endsAtMs <= nowMs);
  }
}
