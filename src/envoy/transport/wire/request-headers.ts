import { areTrailersValid, type CallHeaders, CallHeadersCache, parseCallHeaders } from "./call-headers.ts";
import { type CollectedHeaders, HeaderCollector } from "./header-collector.ts";
import { HpackDecoder } from "./hpack.ts";
import { MAX_HEADER_BYTES } from "./limits.ts";

/** A whole block of headers, understood. */
export interface ReceivedHeaders {
  readonly streamId: number;
  readonly isEndOfStream: boolean;
  /** Null when they cannot begin a call: malformed (RFC 9113, section 8.1.1). */
  readonly call: CallHeaders | null;
  /** Whether they can end one. */
  readonly areTrailers: boolean;
  readonly isTooLarge: boolean;
}

/** From HEADERS and CONTINUATION frames to what a call needs of them. One for each connection. */
export class RequestHeaders {
  readonly #collector = new HeaderCollector(MAX_HEADER_BYTES);
  readonly #decoder = new HpackDecoder(MAX_HEADER_BYTES);
  readonly #cache = new CallHeadersCache();

  /** The stream whose block is not complete; no other frame may come until it is. */
  get openStreamId(): number | null {
    return this.#collector.openStreamId;
  }

  /** The peer has acknowledged that there is no table. */
  forbidTable(): void {
    this.#decoder.allowTable(0);
  }

  /** A HEADERS frame. Null while its block is not complete. @throws ConnectionError */
  begin(flags: number, streamId: number, bytes: Buffer, start: number, end: number): ReceivedHeaders | null {
    return this.#read(this.#collector.begin(flags, streamId, bytes, start, end));
  }

  /** A CONTINUATION frame. Null while the block is not complete. @throws ConnectionError */
  continue(flags: number, streamId: number, payload: Buffer): ReceivedHeaders | null {
    return this.#read(this.#collector.continue(flags, streamId, payload));
  }

  #read(collected: CollectedHeaders | null): ReceivedHeaders | null {
    if (collected === null) return null;
    const { streamId, isEndOfStream, dependsOnItself, bytes, start, end } = collected;
    const known = this.#cache.find(bytes, start, end);
    if (known !== null && !dependsOnItself) {
      return { streamId, isEndOfStream, call: known, areTrailers: false, isTooLarge: false };
    }
    const block = this.#decoder.decode(bytes, start, end);
    const { fields, isTooLarge } = block;
    const call = isTooLarge || dependsOnItself ? null : parseCallHeaders(fields);
    if (call !== null) this.#cache.keep(bytes, start, end, block, call);
    return { streamId, isEndOfStream, call, areTrailers: areTrailersValid(fields), isTooLarge };
  }
}
