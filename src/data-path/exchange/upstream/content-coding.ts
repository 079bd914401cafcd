/**
 * Content codings of upstream responses (RFC 9110, section 8.4). The gateway requests none, but some upstreams
 * compress anyway. Bodies are decoded piece by piece as they arrive, so that decoded bytes are counted where they are
 * stored and streams are not delayed.
 */
import { constants, createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from "node:zlib";
import type { Transform } from "node:stream";
import type { UpstreamResponse } from "./upstream-call.ts";

const FLUSHED = { flush: constants.Z_SYNC_FLUSH };
/** Low half of the first byte of a zlib stream (RFC 1950). Some servers send a bare deflate stream (RFC 1951). */
const ZLIB_METHOD = 8;

const DECODERS: Readonly<Record<string, (firstByte: number) => Transform>> = {
  gzip: () => createGunzip(FLUSHED),
  "x-gzip": () => createGunzip(FLUSHED),
  deflate: (first) => ((first & 0xf) === ZLIB_METHOD ? createInflate(FLUSHED) : createInflateRaw(FLUSHED)),
  br: () => createBrotliDecompress({ flush: constants.BROTLI_OPERATION_FLUSH }),
};

/** Real bodies expand 5 to 40 times. A higher ratio is an attempt to fill memory. */
const MAX_RATIO = 100;
const ALWAYS_ALLOWED_BYTES = 1_048_576;

/** Returns a body's coding; null if it is not coded. */
export function readCoding(contentEncoding: string | undefined): string | null {
  const codings = (contentEncoding ?? "").split(",").map((coding) => coding.trim().toLowerCase());
  return codings.filter((coding) => coding !== "" && coding !== "identity").join(", ") || null;
}

export function isDecodable(coding: string): boolean {
  return Object.hasOwn(DECODERS, coding);
}

/** Explains to client and log why a body could not be read. */
export function describeCoding(coding: string): string {
  return `The model server's response has \`content-encoding: ${coding.slice(0, 40)}\`, which this gateway can't read.`;
}

/** Replaces the reason of an error response whose coding is unreadable. */
export function readableResponse(response: UpstreamResponse, coding: string | null): UpstreamResponse {
  if (response.kind !== "error" || coding === null || isDecodable(coding)) return response;
  const body = Buffer.from(JSON.stringify({ error: { message: describeCoding(coding) } }));
  return { kind: "error", onBody: () => response.onBody(body), onEnd: () => response.onEnd() };
}

export class BodyDecoder {
  readonly #create: (firstByte: number) => Transform;
  #stream: Transform | null = null;
  #codedBytes = 0;
  #bytes = 0;
  #problem: Error | null = null;
  #onPiece: (piece: Uint8Array) => void = () => undefined;
  #onRead: (problem: Error | null) => void = () => undefined;

  /** @param coding A decodable coding. */
  constructor(coding: string) {
    const create = DECODERS[coding];
    if (create === undefined) throw new Error(`no decoder for ${coding}`);
    this.#create = create;
  }

  /**
   * Decodes these bytes and passes the result to `onPiece`. Never rejects.
   * @returns An error text, or null. Nothing may follow an error.
   */
  push(coded: Uint8Array, onPiece: (piece: Uint8Array) => void): Promise<Error | null> {
    const [first] = coded;
    if (first === undefined) return Promise.resolve(this.#problem);
    this.#stream ??= this.#open(first);
    this.#codedBytes += coded.byteLength;
    this.#onPiece = onPiece;
    const stream = this.#stream;
    return new Promise((resolve) => {
      this.#onRead = resolve;
      stream.write(coded, () => resolve(this.#problem));
    });
  }

  /** The rest is not needed. */
  close(): void {
    this.#stream?.destroy();
  }

  #open(firstByte: number): Transform {
    const stream = this.#create(firstByte);
    stream.on("data", (piece: Uint8Array) => this.#take(piece));
    stream.on("error", (error) => (this.#problem ??= error));
    // A broken or closed stream calls no write callback.
    stream.on("close", () => this.#onRead(this.#problem));
    return stream;
  }

  #take(piece: Uint8Array): void {
    if (this.#problem !== null) return;
    this.#bytes += piece.byteLength;
    try {
      if (this.#bytes > ALWAYS_ALLOWED_BYTES + MAX_RATIO * this.#codedBytes) {
        throw new Error(`${this.#codedBytes} bytes of a compressed body have become ${this.#bytes}`);
      }
      this.#onPiece(piece);
    } catch (error) {
      this.#problem = error instanceof Error ? error : new Error(String(error));
      this.close();
    }
  }
}
