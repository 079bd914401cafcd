/**
 * Reasoning that the client does not want to see, but gives back: packed into the signature of a thinking block without
 * text, as `gw1.` and the base64url of its zlib stream (RFC 1950). So an upstream that expects its reasoning back gets
 * it, and the gateway keeps no conversation. It is no secret and no proof: a client could send the same as text.
 */
import { asBuffer } from "../../../shared/text/as-buffer.ts";
import { isUtf8 } from "node:buffer";
import { deflateSync, inflateSync } from "node:zlib";

const PREFIX = "gw1.";
/** Begins what `call-carrier.ts` packs. */
export const CALL_PREFIX = "gw2.";
/** Begins what `compaction.ts` packs. */
export const SUMMARY_PREFIX = "gw3.";
/** Marks a signature as this gateway's, of a thinking block whose text the client reads: no proof of anything. */
export const SIGNATURE_PREFIX = "gw.";
const OWN_PREFIXES = [PREFIX, CALL_PREFIX, SUMMARY_PREFIX, SIGNATURE_PREFIX];

/** The longest reasoning that one signature carries, in UTF-8: about 128,000 tokens. */
export const MAX_CARRIED_BYTES = 512 * 1_024;

/**
 * What all signatures of one request may unpack to: above any context window of today, and small beside a body. A few
 * bytes can unpack to a thousand times as many, and a body has room for thousands of signatures.
 */
const MAX_UNPACKED_BYTES = 4 * 1_048_576;

/** What one signature takes from that at the least. */
const MIN_COST_BYTES = 1_024;

/** Longer than any that `packReasoning` makes. */
const MAX_SIGNATURE_CHARACTERS = 2 * MAX_CARRIED_BYTES;

/** The fastest: the text is sent once, and the event loop waits meanwhile. */
const COMPRESSION_LEVEL = 1;

/** @param reasoning UTF-8, at most `MAX_CARRIED_BYTES`. */
export function packReasoning(reasoning: Uint8Array): string {
  return packText(PREFIX, reasoning);
}

/** @param text UTF-8, at most `MAX_CARRIED_BYTES`. */
export function packText(prefix: string, text: Uint8Array): string {
  return prefix + deflateSync(text, { level: COMPRESSION_LEVEL }).toString("base64url");
}

/** Whether this gateway has signed or packed it. */
export function isOwnSignature(text: string): boolean {
  return OWN_PREFIXES.some((prefix) => text.startsWith(prefix));
}

/** Whether `packReasoning` made it; another's can only be read by who made it. */
export function isOwnCarrier(text: string): boolean {
  return text.startsWith(PREFIX);
}

/** Unpacks the signatures of one request, within a budget for all of them: what is over it is left out. */
export class ReasoningUnpacker {
  #leftBytes = MAX_UNPACKED_BYTES;

  /** The reasoning; empty when the signature is another's, broken, or unpacks to too much: it is never an error. */
  unpack(signature: string, prefix: string = PREFIX): string {
    if (!signature.startsWith(prefix) || signature.length > MAX_SIGNATURE_CHARACTERS) return "";
    if (this.#leftBytes <= 0) return "";
    const bytes = inflate(signature.slice(prefix.length), Math.min(MAX_CARRIED_BYTES, this.#leftBytes));
    // How far a broken one came is not known; a small one costs a call into zlib all the same.
    this.#leftBytes -= Math.max(bytes?.byteLength ?? MAX_CARRIED_BYTES, MIN_COST_BYTES);
    return bytes === null ? "" : decode(bytes);
  }
}

function inflate(base64url: string, maxOutputLength: number): Uint8Array | null {
  try {
    return inflateSync(Buffer.from(base64url, "base64url"), { maxOutputLength });
  } catch (error) {
    if (isZlibError(error)) return null;
    throw error;
  }
}

/** What zlib says of bytes that are none of its own, are cut off or damaged, or unpack to more than is allowed. */
function isZlibError(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : null;
  return typeof code === "string" && (code.startsWith("Z_") || code === "ERR_BUFFER_TOO_LARGE");
}

/** Empty for bytes that are no UTF-8. */
function decode(bytes: Uint8Array): string {
  return isUtf8(bytes) ? asBuffer(bytes).toString("utf8") : "";
}
