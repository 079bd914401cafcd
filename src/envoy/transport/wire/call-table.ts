import { ShortLivedMap } from "../../../shared/collections/short-lived-map.ts";
import { END_WITHIN_MS, TICK_MS } from "./limits.ts";
import type { GrpcCall } from "./grpc-call.ts";

/** Number of recently reset streams that are remembered, because the peer may have sent data before it knew. */
const MAX_REMEMBERED_RESETS = 1_024;
/** Number of ended calls whose reset may still come. A reset is on its way for some milliseconds. */
const MAX_UNREAD = 256;

/** Calls of one connection by stream id, with their deadlines. */
export class CallTable {
  readonly #calls = new ShortLivedMap<number, GrpcCall>();
  readonly #resetIds = new Set<number>();
  /** Ring of stream ids, with the `onUnread` of each at the same position. */
  readonly #unreadIds: number[] = [];
  readonly #unread: (() => void)[] = [];
  #nextUnread = 0;
  #lastId = 0;

  get size(): number {
    return this.#calls.size;
  }

  /** Highest stream id so far. */
  get lastId(): number {
    return this.#lastId;
  }

  /** Marks an id as used, even if no stream is created. */
  use(id: number): void {
    this.#lastId = id;
  }

  find(id: number): GrpcCall | undefined {
    return this.#calls.get(id);
  }

  /** Lists all calls; safe if some are removed meanwhile. */
  list(): GrpcCall[] {
    return [...this.#calls.values()];
  }

  /** Times are those of the last tick, so one tick is added: no call expires early. */
  add(call: GrpcCall, nowMs: number): void {
    this.#calls.set(call.id, call);
    const { timeoutMs } = call.headers;
    if (timeoutMs !== null) call.expiresAtMs = nowMs + timeoutMs + TICK_MS;
  }

  expectEnd(call: GrpcCall, nowMs: number): void {
    call.expiresAtMs = Number.POSITIVE_INFINITY;
    call.endsAtMs = nowMs + END_WITHIN_MS + TICK_MS;
  }

  /** Returns false if the call was not in the table. */
  remove(call: GrpcCall): boolean {
    const { id, onUnread } = call;
    if (!this.#calls.delete(id)) return false;
    if (onUnread !== null) this.#storeUnread(id, onUnread);
    return true;
  }

  /** Returns the `onUnread` of a call that has ended a moment ago, once; null for any other. */
  takeUnread(id: number): (() => void) | null {
    const position = this.#unreadIds.indexOf(id);
    if (position === -1) return null;
    this.#unreadIds[position] = 0;
    return this.#unread[position] ?? null;
  }

  #storeUnread(id: number, onUnread: () => void): void {
    this.#unreadIds[this.#nextUnread] = id;
    this.#unread[this.#nextUnread] = onUnread;
    this.#nextUnread = (this.#nextUnread + 1) % MAX_UNREAD;
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

  /** Lists the calls past their deadline. */
  listExpired(nowMs: number): GrpcCall[] {
    return this.list().filter(({ expiresAtMs }) => expiresAtMs <= nowMs);
  }

  /** Lists the calls whose streams the peer should have ended. */
  listUnended(nowMs: number): GrpcCall[] {
    return this.list().filter(({ endsAtMs }) => endsAtMs <= nowMs);
  }
}
