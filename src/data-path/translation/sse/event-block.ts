import { isUtf8 } from "node:buffer";

const LINE_FEED = 0x0a;
/** Is the same in UTF-8, one character per byte. */
// oxlint-disable-next-line no-control-regex -- ASCII has them
const ASCII = /^[\u0000-\u007f]*$/;

/**
 * Whole lines of an event stream as a string of one character per byte. Many events lie in one piece of a busy stream:
 * one string for all of them, and places in it, cost a small part of what a string for every line does. Where a piece of
 * it is needed as text, it is `decoded`.
 */
export class EventBlock {
  readonly text: string;
  /** How far it was read. */
  at = 0;
  /** Where it begins in the bytes that it was cut from. */
  readonly start: number;

  private constructor(lines: Buffer, start: number) {
    this.text = lines.toString("latin1");
    this.start = start;
  }

  /** The lines that begin at `start` and are whole; null when there is none, or they are not UTF-8. */
  static cut(bytes: Buffer, start: number): EventBlock | null {
    const end = bytes.lastIndexOf(LINE_FEED) + 1;
    if (end <= start) return null;
    const lines = start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end);
    return isUtf8(lines) ? new EventBlock(lines, start) : null;
  }
}

/** UTF-8 as a string of one character per byte. */
export function encodeCharacters(text: string): string {
  return ASCII.test(text) ? text : Buffer.from(text, "utf8").toString("latin1");
}

/** The text of UTF-8 bytes that are a string of one character each. */
export function decodeCharacters(bytes: string): string {
  return ASCII.test(bytes) ? bytes : Buffer.from(bytes, "latin1").toString("utf8");
}
