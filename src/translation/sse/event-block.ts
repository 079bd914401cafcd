import { isAscii, isUtf8 } from "node:buffer";

const LINE_FEED = 0x0a;

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

  /** Its characters are text as they are. */
  readonly isAscii: boolean;

  private constructor(lines: Buffer, start: number) {
    this.text = lines.toString("latin1");
    this.start = start;
    this.isAscii = isAscii(lines);
  }

  /** The lines that begin at `start` and are whole; null when there is none, or they are not UTF-8. */
  static cut(bytes: Buffer, start: number): EventBlock | null {
    const end = bytes.lastIndexOf(LINE_FEED) + 1;
    if (end <= start) return null;
    const lines = bytes.subarray(start, end);
    return isUtf8(lines) ? new EventBlock(lines, start) : null;
  }
}

/** UTF-8 as a string of one character per byte. */
export function encodeCharacters(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1");
}

/** The text of UTF-8 bytes that are a string of one character each. */
export function decodeCharacters(bytes: string): string {
  return Buffer.from(bytes, "latin1").toString("utf8");
}
