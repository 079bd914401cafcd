/**
 * Content codings of upstreams' answers (RFC 9110, section 8.4). Upstreams are asked for none; some compress all the same.
 * A body is decoded piece by piece as it comes, so that its bytes count where they are kept, and a stream is no later.
 */
import { constants, createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from "node:zlib";
import type { Transform } from "node:stream";
import type { UpstreamResponse } from "./upstream-call.ts";

const FLUSHED = { flush: constants.Z_SYNC_FLUSH };
/** The low half of the first byte of a zlib stream (RFC 1950); some servers send a bare deflate stream (RFC 1951). */
const ZLIB_METHOD = 8;

const DECODERS: Readonly<Record<string, (firstByte: number) => Transform>> = {
  gzip: () => createGunzip(FLUSHED),
  "x-gzip": () => createGunzip(FLUSHED),
  deflate: (first) => ((first & 0xf) === ZLIB_METHOD ? createInflate(FLUSHED) : createInflateRaw(FLUSHED)),
  br: () => createBrotliDecompress({ flush: constants.BROTLI_OPERATION_FLUSH }),
};

/** What a server writes becomes 5 to 40 times as small; what becomes smaller was made to fill memory. */
const MAX_RATIO = 100;
const ALWAYS_ALLOWED_BYTES = 1_048_576;

/** The coding of a body; null: it is as it is. */
export function readCoding(contentEncoding: string | undefined): string | null {
  const codings = (contentEncoding ?? "").split(",").map((coding) => coding.trim().toLowerCase());
  return codings.filter((coding) => coding !== "" && coding !== "identity").join(", ") || null;
}

export function isDecodable(coding: string): boolean {
  return Object.hasOwn(DECODERS, coding);
}

/** Says to client and log why a body could not be read. */
export function describeCoding(coding: string): string {
  return `The model server sent its answer with \`content-encoding: ${coding.slice(0, 40)}\`, which this gateway does not read.`;
}

/** An error whose coding is not read says so in the place of its reason. */
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

  /** @param coding One that is decodable. */
  constructor(coding: string) {
    const create = DECODERS[coding];
    if (create === undefined) throw new Error(`no decoder for ${coding}`);
    this.#create = create;
  }

  /**
   * Hands on all that these bytes hold. Never rejects.
   * @returns What is wrong with them, or null. Nothing may follow then.
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

  /** Nobody wants the rest. */
  close(): void {
    this.#stream?.destroy();
  }

  #open(firstByte: number): Transform {
    const stream = this.#create(firstByte);
    stream.on("data", (piece: Uint8Array) => this.#take(piece));
    stream.on("error", (error) => (this.#problem ??= error));
    // A stream that breaks, or is closed, calls back no write.
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
