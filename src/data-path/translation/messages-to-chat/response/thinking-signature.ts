import { createHash, type Hash } from "node:crypto";
import { MAX_CARRIED_BYTES, packReasoning, SIGNATURE_PREFIX } from "../../conversation/carried-reasoning.ts";
import { TextBuffer } from "../../text-buffer.ts";

/**
 * The signature of a thinking block. The protocol demands a string, and clients drop unsigned thinking when they send
 * the conversation again, which loses the reasoning history; so a block without one gets the hash of its text. Where
 * the client does not read the text, the signature carries it.
 */
export class ThinkingSignature {
  readonly #hash: Hash = createHash("sha256");
  /** Null: the text is not to be carried, or is too long for it; half a thought is worse than none. */
  #carried: TextBuffer | null;
  #upstream: string | null = null;

  constructor({ carries }: { readonly carries: boolean }) {
    this.#carried = carries ? new TextBuffer({ maxBytes: MAX_CARRIED_BYTES }) : null;
  }

  add(thinking: string): void {
    this.#hash.update(thinking, "utf8");
    if (this.#carried?.append(thinking) === false) this.#carried = null;
  }

  /** The upstream's own signature, which counts more than the hash. */
  set(signature: string): void {
    this.#upstream = signature;
  }

  /** Callable once, at the block's end. */
  end(): string {
    if (this.#carried !== null) return packReasoning(this.#carried.bytes);
    return this.#upstream ?? SIGNATURE_PREFIX + this.#hash.digest("base64url");
  }
}
