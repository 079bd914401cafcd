import { MAX_QUEUED_BYTES } from "./limits.ts";
import type { CallSender } from "./call-sender.ts";

/** The streams of a connection that have something to send and may not: for want of a window, or of the socket. */
export class SendQueue {
  readonly #waiting = new Set<CallSender>();
  #bytes = 0;

  get isFull(): boolean {
    return this.#bytes > MAX_QUEUED_BYTES;
  }

  add(sender: CallSender): void {
    this.#waiting.add(sender);
  }

  remove(sender: CallSender): void {
    this.#waiting.delete(sender);
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
      for (const sender of round) {
        if (!sender.pumpFrame()) continue;
        hasSent = true;
        this.#waiting.add(sender);
      }
    }
  }
}
