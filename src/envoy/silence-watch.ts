/**
 * Streamed answers whose upstream says nothing for a while. Proxies, browsers and clients close what is silent for a minute
 * (and more), while a model reads a long prompt or thinks: so the client is told that its answer goes on. And since a
 * stream in which something is said is not idle to Envoy, an upstream that never says anything again is given up here.
 */
import { DEFAULT_TIMEOUTS } from "./bootstrap/render-options.ts";

/** How long a client hears nothing at the most. */
const KEEP_ALIVE_MS = 15_000;
/** As long as Envoy lets a stream be idle. */
const GIVEN_UP_MS = DEFAULT_TIMEOUTS.streamIdleSeconds * 1000;
/** What happened since the last tick is not looked at more closely: one timer serves all streams, and no clock is read. */
const TICK_MS = KEEP_ALIVE_MS / 2;
const GIVEN_UP_TICKS = Math.ceil(GIVEN_UP_MS / TICK_MS);

/** What a stream does about silence. */
export interface SilentStream {
  /** Its client has heard nothing since the tick before. */
  sendKeepAlive(): void;
  /** Its upstream has said nothing for longer than anybody waits. Called once. */
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

/** What is heard of one stream. */
export type Watched = Pick<WatchedStream, "heard" | "told" | "end">;

class WatchedStream {
  readonly #stream: SilentStream;
  /** The answer is over. */
  readonly end: () => void;
  /** Ticks since the upstream has sent something. */
  #silentTicks = 0;
  #isTold = true;

  constructor(stream: SilentStream, forget: () => void) {
    this.#stream = stream;
    this.end = forget;
  }

  /** The upstream has sent something. */
  heard(): void {
    this.#silentTicks = 0;
  }

  /** The client has been sent something. */
  told(): void {
    this.#isTold = true;
  }

  tick(): void {
    this.#silentTicks += 1;
    if (this.#silentTicks > GIVEN_UP_TICKS) {
      this.end();
      this.#stream.giveUp();
      return;
    }
    const isTold = this.#isTold;
    this.#isTold = false;
    if (!isTold) this.#stream.sendKeepAlive();
  }
}
