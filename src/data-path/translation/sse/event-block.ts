import { isUtf8 } from "node:buffer";

const LINE_FEED = 0x0a;
/** Text whose UTF-8 bytes equal its characters. */
// oxlint-disable-next-line no-control-regex -- ASCII has them
const ASCII = /^[\u0000-\u007f]*$/;

/**
 * Complete lines of an event stream as a string with one character per byte. A busy stream delivers many events in one
 * piece: one string and offsets into it cost a fraction of a string per line. Decode a part with `decodeCharacters` to
 * get its text.
 */
export class EventBlock {
  readonly text: string;
  /** Offset of the next unread character. */
  at = 0;
  /** Offset of the block in the bytes that it was cut from. */
  readonly start: number;

  private constructor(lines: Buffer, start: number) {
    this.text = lines.toString("latin1");
    this.start = start;
  }

  /** Cuts the complete lines that begin at `start`; returns null if there are none, or they are not UTF-8. */
  static cut(bytes: Buffer, start: number): EventBlock | null {
    const end = bytes.lastIndexOf(LINE_FEED) + 1;
    if (end <= start) return null;
    const lines = start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end);
    return isUtf8(lines) ? new EventBlock(lines, start) : null;
  }
}

/** Encodes text as UTF-8 in a string with one character per byte. */
export function encodeCharacters(text: string): string {
  return ASCII.test(text) ? text : Buffer.from(text, "utf8").toString("latin1");
}

/** Decodes a string with one character per UTF-8 byte. */
export function decodeCharacters(bytes: string): string {
  return ASCII.test(bytes) ? bytes : Buffer.from(bytes, "latin1").toString("utf8");
}
