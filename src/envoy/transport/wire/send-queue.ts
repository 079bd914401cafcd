import { MAX_QUEUED_BYTES } from "./limits.ts";
import type { Outgoing } from "./outgoing.ts";

/** The streams of a connection that have something to send and may not: for want of a window, or of the socket. */
export class SendQueue {
  readonly #waiting = new Set<Outgoing>();
  #bytes = 0;

  get isFull(): boolean {
    return this.#bytes > MAX_QUEUED_BYTES;
  }

  add(outgoing: Outgoing): void {
    this.#waiting.add(outgoing);
  }

  remove(outgoing: Outgoing): void {
    this.#waiting.delete(outgoing);
  }

  /** What waits has become more, or less. */
  count(bytes: number): void {
    this.#bytes += bytes;
  }

  /** A window or the socket has opened: a frame of each in turn, for as long as one can send. */
  pump(): void {
    for (let hasSent = true; hasSent && this.#waiting.size > 0;) {
      const round = [...this.#waiting];
      this.#waiting.clear();
      hasSent = false;
      for (const outgoing of round) {
        if (!outgoing.pumpFrame()) continue;
        hasSent = true;
        this.#waiting.add(outgoing);
      }
    }
  }
}
