import { createHash, type Hash } from "node:crypto";

/** Marks a signature as this gateway's: no proof of anything. */
const PREFIX = "gw.";

/**
 * The signature of a thinking block. The protocol demands a string, and clients drop unsigned thinking when they send
 * the conversation again, which loses the reasoning history; so a block without one gets the hash of its text.
 */
export class ThinkingSignature {
  readonly #hash: Hash = createHash("sha256");
  #upstream: string | null = null;

  add(thinking: string): void {
    this.#hash.update(thinking, "utf8");
  }

  /** The upstream's own signature, which counts more. */
  set(signature: string): void {
    this.#upstream = signature;
  }

  /** Callable once, at the block's end. */
  end(): string {
    return this.#upstream ?? PREFIX + this.#hash.digest("base64url");
  }
}
