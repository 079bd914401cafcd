/**
 * The bytes of bodies that one worker buffers at a time, and the most that one body may have. A worker that would buffer
 * more refuses the request instead of running out of memory under many large bodies at once.
 */
import { GatewayError } from "../errors.ts";

export interface BodyLimits {
  /** `limits.max_body_bytes`. Envoy refuses first what is larger by more than a body may gain on its way. */
  readonly maxBodyBytes: number;
  /** The largest body that may go upstream in the place of a client's: what Envoy takes back. */
  readonly maxUpstreamBytes: number;
  /** `limits.max_buffered_bytes`. */
  readonly maxBufferedBytes: number;
}

/** Beside so much of others a single body of any size is taken: else what requests keep could shut large ones out. */
const KEPT_SHARE = 1 / 4;

export class BodyBudget {
  readonly #limits: BodyLimits;
  #bufferedBytes = 0;

  constructor(limits: BodyLimits) {
    this.#limits = limits;
  }

  get bufferedBytes(): number {
    return this.#bufferedBytes;
  }

  /**
   * Counts so many more bytes as buffered. A single body always fits a budget that is nearly empty.
   * @throws GatewayError 413 `request_too_large`, 503 `gateway_overloaded`; nothing is counted then.
   */
  reserve(bytes: number): void {
    const { maxBodyBytes } = this.#limits;
    if (bytes > maxBodyBytes) {
      const message = `The request body has ${bytes} bytes; this gateway takes at most ${maxBodyBytes}.`;
      throw new GatewayError("request_too_large", { message });
    }
    this.hold(bytes);
  }

  /** @throws GatewayError 413 `request_too_large`: what the upstream would get has grown too much. */
  checkUpstreamBody(bytes: number): void {
    const { maxUpstreamBytes } = this.#limits;
    if (bytes <= maxUpstreamBytes) return;
    const message = `The request body has ${bytes} bytes in the form that the model's server takes; this gateway sends at most ${maxUpstreamBytes}.`;
    throw new GatewayError("request_too_large", { message });
  }

  /**
   * The same as `reserve` for bytes that are not yet, or not, a client's whole body.
   * @param ownBytes What the same body has counted already: it is not what it waits for.
   * @throws GatewayError 503 `gateway_overloaded`; nothing is counted then.
   */
  hold(bytes: number, ownBytes = 0): void {
    const { maxBufferedBytes } = this.#limits;
    const othersBytes = this.#bufferedBytes - ownBytes;
    const isAlone = othersBytes <= maxBufferedBytes * KEPT_SHARE;
    if (!isAlone && this.#bufferedBytes + bytes > maxBufferedBytes) {
      throw new GatewayError("gateway_overloaded");
    }
    this.#bufferedBytes += bytes;
  }

  /** Gives back what `reserve` or `hold` counted. */
  release(bytes: number): void {
    this.#bufferedBytes -= bytes;
  }
}
