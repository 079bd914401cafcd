/**
 * The bytes of bodies that one worker holds at a time, and the most that one body may have. A worker that would hold
 * more refuses the request instead of running out of memory under many large bodies at once.
 */
import { GatewayError } from "../errors.ts";

export interface BodyLimits {
  /** `limits.max_body_bytes`. Envoy refuses larger ones first, except where its own buffers are larger than this. */
  readonly maxBodyBytes: number;
  /** `limits.max_buffered_bytes`. */
  readonly maxHeldBytes: number;
}

export class BodyBudget {
  readonly #limits: BodyLimits;
  #heldBytes = 0;

  constructor(limits: BodyLimits) {
    this.#limits = limits;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /**
   * Counts so many more bytes as held. A single body always fits an empty budget.
   * @throws GatewayError 413 `request_too_large`, 503 `gateway_overloaded`; nothing is counted then.
   */
  hold(bytes: number): void {
    const { maxBodyBytes, maxHeldBytes } = this.#limits;
    if (bytes > maxBodyBytes) {
      const message = `The request body has ${bytes} bytes; this gateway takes at most ${maxBodyBytes}.`;
      throw new GatewayError("request_too_large", { message });
    }
    if (this.#heldBytes > 0 && this.#heldBytes + bytes > maxHeldBytes) {
      throw new GatewayError("gateway_overloaded");
    }
    this.#heldBytes += bytes;
  }

  /** Gives back what `hold` counted. */
  release(bytes: number): void {
    this.#heldBytes -= bytes;
  }
}
