/**
 * Watches streamed responses whose upstream is silent, as a model is while it reads a long prompt or thinks. Proxies,
 * browsers and clients close connections that are silent for a minute, so the client gets a keep-alive. Keep-alives
 * also reset Envoy's idle timeout, so an upstream that stays silent is given up here. Before the first byte of the
 * upstream's body, Envoy takes no piece of a body: it would cut off the response. Until then, its idle timeout holds.
 */
import { DEFAULT_TIMEOUTS } from "./bootstrap/render-options.ts";

/** Longest silence towards a client. */
const KEEP_ALIVE_MS = 15_000;
/** Envoy's own idle timeout of a stream. */
const GIVEN_UP_MS = DEFAULT_TIMEOUTS.streamIdleSeconds * 1000;
/** One timer serves all streams and reads no clock, so times are accurate to one tick. */
const TICK_MS = KEEP_ALIVE_MS / 2;
const GIVEN_UP_TICKS = Math.ceil(GIVEN_UP_MS / TICK_MS);

/** A stream's reactions to silence. */
export interface SilentStream {
  /** The client got nothing since the previous tick. */
  sendKeepAlive(): void;
  /** The upstream was silent until the timeout. Called once. */
  giveUp(): void;
}

export class SilenceWatch {
  readonly #streams = new Set<WatchedStream>();
  #timer: NodeJS.Timeout | null = null;

  watch(stream: SilentStream): Watched {
    const watched: WatchedStream = new WatchedStream(stream, () => {
      this.#streams.delete(watched);
      if (this.#streams.size === 0) this.#stop();
    });
    this.#streams.add(watched);
    this.#timer ??= setInterval(() => this.#tick(), TICK_MS).unref();
    return watched;
  }

  #tick(): void {
    for (const stream of this.#streams) stream.tick();
  }

  #stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }
}

/** Events of one stream that the watch needs. */
export type Watched = Pick<WatchedStream, "onReceived" | "onSent" | "end">;

class WatchedStream {
  readonly #stream: SilentStream;
  /** The response is complete. */
  readonly end: () => void;
  /** Ticks since the upstream sent something; null before the first byte of its body. */
  #silentTicks: number | null = null;
  #hasSent = true;

  constructor(stream: SilentStream, remove: () => void) {
    this.#stream = stream;
    this.end = remove;
  }

  /** The upstream sent something. */
  onReceived(): void {
    this.#silentTicks = 0;
  }

  /** Something was sent to the client. */
  onSent(): void {
    this.#hasSent = true;
  }

  tick(): void {
    if (this.#silentTicks === null) return;
    this.#silentTicks += 1;
    if (this.#silentTicks > GIVEN_UP_TICKS) {
      this.end();
      this.#stream.giveUp();
      return;
    }
    const isSent = this.#hasSent;
    this.#hasSent = false;
    if (!isSent) this.#stream.sendKeepAlive();
  }
}
