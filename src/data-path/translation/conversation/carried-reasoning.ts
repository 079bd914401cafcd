/**
 * Packs reasoning that the client does not display but sends back into the signature of a thinking block without text:
 * `gw1.` and the base64url of its zlib stream (RFC 1950). An upstream that requires its reasoning gets it back, and
 * the gateway stores no conversation. It is neither secret nor authenticated: a client could send the same as text.
 */
import { asBuffer } from "../../../shared/text/as-buffer.ts";
import { isUtf8 } from "node:buffer";
import { deflateSync, inflateSync } from "node:zlib";

const PREFIX = "gw1.";
/** Prefix of carriers from `call-carrier.ts`. */
export const CALL_PREFIX = "gw2.";
/** Prefix of carriers from `compaction.ts`. */
export const SUMMARY_PREFIX = "gw3.";
/** Prefix of this gateway's signatures of thinking blocks whose text the client sees. It proves nothing. */
export const SIGNATURE_PREFIX = "gw.";
const OWN_PREFIXES = [PREFIX, CALL_PREFIX, SUMMARY_PREFIX, SIGNATURE_PREFIX];

/** Largest reasoning in one signature, in UTF-8 bytes: about 128,000 tokens. */
export const MAX_CARRIED_BYTES = 512 * 1_024;

/**
 * Unpacked bytes of all signatures of one request: more than any current context window, and small compared to a body.
 * A few bytes can unpack to a thousand times as many, and a body can contain thousands of signatures.
 */
const MAX_UNPACKED_BYTES = 4 * 1_048_576;

/** Minimum share of that budget per signature. */
const MIN_COST_BYTES = 1_024;

/** Longer than any signature of `packReasoning`. */
const MAX_SIGNATURE_CHARACTERS = 2 * MAX_CARRIED_BYTES;

/** Fastest level: the text is sent once, and compression blocks the event loop. */
const COMPRESSION_LEVEL = 1;

/** @param reasoning UTF-8, at most `MAX_CARRIED_BYTES`. */
export function packReasoning(reasoning: Uint8Array): string {
  return packText(PREFIX, reasoning);
}

/** @param text UTF-8, at most `MAX_CARRIED_BYTES`. */
export function packText(prefix: string, text: Uint8Array): string {
  return prefix + deflateSync(text, { level: COMPRESSION_LEVEL }).toString("base64url");
}

/** Returns whether this gateway signed or packed it. */
export function isOwnSignature(text: string): boolean {
  return OWN_PREFIXES.some((prefix) => text.startsWith(prefix));
}

/** Returns whether `packReasoning` created it; only the creator of another carrier can read it. */
export function isOwnCarrier(text: string): boolean {
  return text.startsWith(PREFIX);
}

/** Unpacks the signatures of one request within a shared budget; skips signatures beyond it. */
export class ReasoningUnpacker {
  #remainingBytes = MAX_UNPACKED_BYTES;

  /** Returns the reasoning; empty if the signature is foreign, damaged, or too large. Never throws. */
  unpack(signature: string, prefix: string = PREFIX): string {
    if (!signature.startsWith(prefix) || signature.length > MAX_SIGNATURE_CHARACTERS) return "";
    if (this.#remainingBytes <= 0) return "";
    const bytes = inflate(signature.slice(prefix.length), Math.min(MAX_CARRIED_BYTES, this.#remainingBytes));
    // The size of damaged data is unknown, so it is charged with the maximum. Even small data has a minimum charge,
    // because it costs a call of zlib.
    this.#remainingBytes -= Math.max(bytes?.byteLength ?? MAX_CARRIED_BYTES, MIN_COST_BYTES);
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

/** Errors of zlib for data that is foreign, truncated, damaged or too large. */
function isZlibError(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : null;
  return typeof code === "string" && (code.startsWith("Z_") || code === "ERR_BUFFER_TOO_LARGE");
}

/** Returns "" if it is not UTF-8. */
function decode(bytes: Uint8Array): string {
  return isUtf8(bytes) ? asBuffer(bytes).toString("utf8") : "";
}
