import { END_WITHIN_MS, TICK_MS } from "./limits.ts";
import type { WireStream } from "./stream.ts";

/** Streams that we reset lately: what the peer had sent before it knew is passed over. */
const MAX_REMEMBERED_RESETS = 1_024;

/** The streams of one connection, by their numbers, and what they wait for. */
export class StreamTable {
  readonly #streams = new Map<number, WireStream>();
  readonly #resetIds = new Set<number>();
  readonly #deadlines = new Map<WireStream, number>();
  readonly #ends = new Map<WireStream, number>();
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
    if (timeoutMs !== null) this.#deadlines.set(stream, nowMs + timeoutMs + TICK_MS);
  }

  expectEnd(stream: WireStream, nowMs: number): void {
    this.#deadlines.delete(stream);
    this.#ends.set(stream, nowMs + END_WITHIN_MS + TICK_MS);
  }

  /** False when it was not there. */
  remove(stream: WireStream): boolean {
    this.#deadlines.delete(stream);
    this.#ends.delete(stream);
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
    return listBefore(this.#deadlines, nowMs);
  }

  /** Streams that the peer should have ended by now. */
  listUnended(nowMs: number): WireStream[] {
    return listBefore(this.#ends, nowMs);
  }
}

function listBefore(times: ReadonlyMap<WireStream, number>, nowMs: number): WireStream[] {
  if (times.size === 0) return [];
  return [...times].filter(([, atMs]) => atMs <= nowMs).map(([stream]) => stream);
}
