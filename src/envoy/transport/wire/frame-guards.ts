import { ConnectionError, ERROR } from "./frames.ts";
import { IDLE_FRAMES, WINDOW_UPDATES } from "./limits.ts";

/** Rate limit: a burst, and a steady rate. */
class FrameGuard {
  readonly #burst: number;
  readonly #perSecond: number;
  #available: number;

  constructor({ burst, perSecond }: { burst: number; perSecond: number }) {
    this.#burst = burst;
    this.#perSecond = perSecond;
    this.#available = burst;
  }

  /** @throws ConnectionError if the rate is exceeded. */
  take(): void {
    this.#available -= 1;
    if (this.#available >= 0) return;
    throw new ConnectionError(ERROR.enhanceYourCalm, "too many frames that bring nothing");
  }

  /** Allows this many more. */
  allow(amount: number): void {
    this.#available = Math.min(this.#burst, this.#available + amount);
  }

  refill(passedMs: number): void {
    this.allow((passedMs * this.#perSecond) / 1_000);
  }
}

/**
 * Rate limits for frames that cost work without carrying data, and that only Envoy itself sends. Resets are
 * not limited: they come from clients that cancel requests, and a limit would end the connection for all
 * clients.
 */
export class FrameGuards {
  readonly idleFrames = new FrameGuard(IDLE_FRAMES);
  readonly windowUpdates = new FrameGuard(WINDOW_UPDATES);

  /** Refills by elapsed time. */
  refill(passedMs: number): void {
    this.idleFrames.refill(passedMs);
    this.windowUpdates.refill(passedMs);
  }
}
