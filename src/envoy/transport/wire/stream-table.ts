import { ShortLivedMap } from "../../../collections/short-lived-map.ts";
import { END_WITHIN_MS, TICK_MS } from "./limits.ts";
import type { WireStream } from "./stream.ts";

/** Streams that we reset lately: what the peer had sent before it knew is passed over. */
const MAX_REMEMBERED_RESETS = 1_024;

/** The streams of one connection, by their numbers, and what they wait for. */
export class StreamTable {
  readonly #streams = new ShortLivedMap<number, WireStream>();
  readonly #resetIds = new Set<number>();
  #lastId = 0;

  get size(): number {
    return this.#streams.size;
  }

  /** The highest number that was begun. */
  get lastId(): number {
    return this.#lastId;
  }

  /** A number has been used, whether a stream comes of it or not. */
  use(id: number): void {
    this.#lastId = id;
  }

  find(id: number): WireStream | undefined {
    return this.#streams.get(id);
  }

  /** All of them, though some may go meanwhile. */
  list(): WireStream[] {
    return [...this.#streams.values()];
  }

  /** Times here are of the last tick, hence the tick on top: nothing expires early. */
  add(stream: WireStream, nowMs: number): void {
    this.#streams.set(stream.id, stream);
    const { timeoutMs } = stream.headers;
    if (timeoutMs !== null) stream.expiresAtMs = nowMs + timeoutMs + TICK_MS;
  }

  expectEnd(stream: WireStream, nowMs: number): void {
    stream.expiresAtMs = Number.POSITIVE_INFINITY;
    stream.endsAtMs = nowMs + END_WITHIN_MS + TICK_MS;
  }

  /** False when it was not there. */
  remove(stream: WireStream): boolean {
    return this.#streams.delete(stream.id);
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

  /** Calls whose time is over. */
  listExpired(nowMs: number): WireStream[] {
    return this.list().filter(({ expiresAtMs }) => expiresAtMs <= nowMs);
  }

  /** Streams that the peer should have ended by now. */
  listUnended(nowMs: number): WireStream[] {
    return this.list().filter(({ endsAtMs }) => endsAtMs <= nowMs);
  }
}
