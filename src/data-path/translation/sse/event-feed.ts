import { asBuffer } from "../../../shared/text/as-buffer.ts";
import { EventBlock } from "./event-block.ts";

/** The usual end of an event. `EventReader.read` handles all others. */
const BLANK_LINE = "\n\n";

/** Reader of a stream whose events mostly have the same form. */
export interface EventReader {
  /** Returns true once the reader needs no more bytes. */
  isOver(): boolean;
  /** Returns true if the next byte begins an event and `readSimilar` may recognize it. */
  mayBeSimilar(): boolean;
  /** Reads the block's next events for as long as it recognizes their form. */
  readSimilar(block: EventBlock): void;
  /** Reads any bytes, split anywhere. */
  read(bytes: Buffer): void;
}

/**
 * Splits a stream into events and gives them to the reader one by one, so that a form learned from one event
 * applies to the next. Events of a known form are not split into lines.
 */
export function feedEvents(chunk: Uint8Array, reader: EventReader): void {
  const bytes = asBuffer(chunk);
  let block: EventBlock | null | undefined;
  for (let at = 0; at < bytes.length && !reader.isOver();) {
    if (reader.mayBeSimilar()) {
      block = block === undefined ? EventBlock.cut(bytes, at) : block;
      if (block !== null) {
        block.at = at - block.start;
        reader.readSimilar(block);
        at = block.start + block.at;
        if (at === bytes.length) return;
      }
    }
    const blank = bytes.indexOf(BLANK_LINE, at);
    const next = blank === -1 ? bytes.length : blank + BLANK_LINE.length;
    reader.read(bytes.subarray(at, next));
    at = next;
  }
}
