import { MAX_QUEUED_BYTES } from "./limits.ts";
import type { CallSender } from "./call-sender.ts";

/** Streams of a connection whose data waits for a window or the socket. */
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

  /** Changes the number of waiting bytes. */
  count(bytes: number): void {
    this.#bytes += bytes;
  }

  /**
   * Sends one frame of each stream in turn, for as long as any can send. Call when a window or the socket has
   * opened.
   */
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
