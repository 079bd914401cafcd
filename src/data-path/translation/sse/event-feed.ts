import { asBuffer } from "../../../shared/text/as-buffer.ts";
import { EventBlock } from "./event-block.ts";

/** How nearly every upstream ends an event. Another end is found by whoever reads the lines. */
const BLANK_LINE = "\n\n";

/** Who reads a stream whose events are mostly alike. */
export interface EventReader {
  /** Nothing more is read. */
  isOver(): boolean;
  /** Whether the next byte begins an event, and there may be events that `readAlike` knows. */
  knowsAlike(): boolean;
  /** Steps over the block's next events for as long as it knows them. */
  readAlike(block: EventBlock): void;
  /** Any bytes, split anywhere. */
  read(bytes: Buffer): void;
}

/**
 * Hands a stream's bytes to their reader: one event after the other, so that what one of them teaches serves for those
 * after it, and those that are alike without looking for their lines.
 */
export function feedEvents(chunk: Uint8Array, reader: EventReader): void {
  const bytes = asBuffer(chunk);
  let block: EventBlock | null | undefined;
  for (let at = 0; at < bytes.length && !reader.isOver();) {
    if (reader.knowsAlike()) {
      block = block === undefined ? EventBlock.cut(bytes, at) : block;
      if (block !== null) {
        block.at = at - block.start;
        reader.readAlike(block);
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
