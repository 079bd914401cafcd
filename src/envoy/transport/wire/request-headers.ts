import { areTrailersValid, type CallHeaders, CallHeadersCache, parseCallHeaders } from "./call-headers.ts";
import { type CollectedHeaders, HeaderCollector } from "./header-collector.ts";
import { HpackDecoder } from "./hpack.ts";
import { MAX_HEADER_BYTES } from "./limits.ts";

/** Complete, decoded header block. */
export interface ReceivedHeaders {
  readonly streamId: number;
  readonly isEndOfStream: boolean;
  /** Null if the headers cannot start a call: malformed (RFC 9113, section 8.1.1). */
  readonly call: CallHeaders | null;
  /** True if the headers can end a call. */
  readonly areTrailers: boolean;
  readonly isTooLarge: boolean;
}

/** Converts HEADERS and CONTINUATION frames to the properties of a call. One per connection. */
export class RequestHeaders {
  readonly #collector = new HeaderCollector(MAX_HEADER_BYTES);
  readonly #decoder = new HpackDecoder(MAX_HEADER_BYTES);
  readonly #cache = new CallHeadersCache();

  /** Stream with an incomplete block; no other frame may come until it is complete. */
  get openStreamId(): number | null {
    return this.#collector.openStreamId;
  }

  /** Call when the peer has acknowledged that there is no table. */
  forbidTable(): void {
    this.#decoder.allowTable(0);
  }

  /** Handles a HEADERS frame. Null while its block is incomplete. @throws ConnectionError */
  begin(flags: number, streamId: number, bytes: Buffer, start: number, end: number): ReceivedHeaders | null {
    return this.#read(this.#collector.begin(flags, streamId, bytes, start, end));
  }

  /** Handles a CONTINUATION frame. Null while the block is incomplete. @throws ConnectionError */
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
    if (call !== null) this.#cache.add(bytes, start, end, block, call);
    return { streamId, isEndOfStream, call, areTrailers: areTrailersValid(fields), isTooLarge };
  }
}
