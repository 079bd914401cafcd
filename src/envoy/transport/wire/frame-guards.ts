import { ConnectionError, ERROR } from "./frames.ts";
import { IDLE_FRAMES, WINDOW_UPDATES } from "./limits.ts";

/** How often something may come: a burst, and a steady rate. */
class FrameGuard {
  readonly #burst: number;
  readonly #perSecond: number;
  #left: number;

  constructor({ burst, perSecond }: { burst: number; perSecond: number }) {
    this.#burst = burst;
    this.#perSecond = perSecond;
    this.#left = burst;
  }

  /** @throws ConnectionError when it comes too often. */
  take(): void {
    this.#left -= 1;
    if (this.#left >= 0) return;
    throw new ConnectionError(ERROR.enhanceYourCalm, "too many frames that bring nothing");
  }

  /** So many more are in order. */
  give(amount: number): void {
    this.#left = Math.min(this.#burst, this.#left + amount);
  }

  refill(passedMs: number): void {
    this.give((passedMs * this.#perSecond) / 1_000);
  }
}

/**
 * For frames that cost us something and bring nothing, and that Envoy sends by itself alone. Resets are not among them:
 * each is a client's that took its request back, so that a bound would end the connection for all clients.
 */
export class FrameGuards {
  readonly idleFrames = new FrameGuard(IDLE_FRAMES);
  readonly windowUpdates = new FrameGuard(WINDOW_UPDATES);

  /** Gives back what time has earned. */
  refill(passedMs: number): void {
    this.idleFrames.refill(passedMs);
    this.windowUpdates.refill(passedMs);
  }
}
