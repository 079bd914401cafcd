import { createHash, type Hash } from "node:crypto";
import { MAX_CARRIED_BYTES, packReasoning, SIGNATURE_PREFIX } from "../../conversation/carried-reasoning.ts";
import { TextBuffer } from "../../text-buffer.ts";

/**
 * Signature of a thinking block. The protocol requires a string, and clients drop unsigned thinking from later
 * requests, which loses the reasoning history; so a block without a signature gets the hash of its text. If the client
 * does not see the text, the signature carries it.
 */
export class ThinkingSignature {
  readonly #hash: Hash = createHash("sha256");
  /** Null: the text is not carried or exceeds the limit; incomplete reasoning is worse than none. */
  #carried: TextBuffer | null;
  #upstream: string | null = null;

  constructor({ carries }: { readonly carries: boolean }) {
    this.#carried = carries ? new TextBuffer({ maxBytes: MAX_CARRIED_BYTES }) : null;
  }

  add(thinking: string): void {
    this.#hash.update(thinking, "utf8");
    if (this.#carried?.append(thinking) === false) this.#carried = null;
  }

  /** Sets the upstream's own signature, which takes precedence over the hash. */
  set(signature: string): void {
    this.#upstream = signature;
  }

  /** Call once, at the end of the block. */
  end(): string {
    if (this.#carried !== null) return packReasoning(this.#carried.bytes);
    return this.#upstream ?? SIGNATURE_PREFIX + this.#hash.digest("base64url");
  }
}
