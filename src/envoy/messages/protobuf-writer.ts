/**
 * Writes the protobuf wire format backwards, from the last field to the first: a length is then known when it is due, and
 * nothing is measured first. Nested: note `at`, write the content, then `close` with what was noted.
 */
import { asBuffer } from "../../shared/text/as-buffer.ts";

const SCRATCH_BYTES = 64 * 1024;
/** A value from here on is a part of its own: copying a body of 100 kB twice takes a tenth of what its request costs. */
const LARGE_BYTES = 16 * 1024;

/** A text of up to so many characters is written here: a call out of JavaScript takes longer. */
const SHORT_CHARACTERS = 48;

export class ProtobufWriter {
  #buffer: Buffer = Buffer.allocUnsafeSlow(SCRATCH_BYTES);
  /** Everything from here to the end of the buffer is written. */
  #start = SCRATCH_BYTES;
  /** What comes after the buffer's bytes, from the last to the first. */
  #parts: Buffer[] = [];
  #partsBytes = 0;

  /** Bytes written so far. */
  get length(): number {
    return this.#partsBytes + this.#buffer.length - this.#start;
  }

  /** What was written, one part after the other; large values are not copied. Begins anew. */
  finish(): Buffer[] {
    this.#seal();
    if (this.#buffer.length > SCRATCH_BYTES) this.#buffer = Buffer.allocUnsafeSlow(SCRATCH_BYTES);
    const parts = this.#parts.toReversed();
    this.reset();
    return parts;
  }

  reset(): void {
    this.#start = this.#buffer.length;
    this.#parts = [];
    this.#partsBytes = 0;
  }

  varint(tag: number, value: number): void {
    this.#varint(value);
    this.#byte(tag);
  }

  boolean(tag: number, value: boolean): void {
    this.#byte(value ? 1 : 0);
    this.#byte(tag);
  }

  double(tag: number, value: number): void {
    this.#reserve(8);
    this.#start -= 8;
    this.#buffer.writeDoubleLE(value, this.#start);
    this.#byte(tag);
  }

  text(tag: number, value: string): void {
    this.#varint(this.#writeShort(value) ? value.length : this.#writeText(value));
    this.#byte(tag);
  }

  /** A large value must not change any more. */
  bytes(tag: number, value: Uint8Array): void {
    if (value.length >= LARGE_BYTES) {
      this.#seal();
      this.#addPart(asBuffer(value));
    } else {
      this.#reserve(value.length);
      this.#start -= value.length;
      this.#buffer.set(value, this.#start);
    }
    this.#varint(value.length);
    this.#byte(tag);
  }

  /** The message that was written since `length` was this. */
  close(tag: number, lengthBefore: number): void {
    this.#varint(this.length - lengthBefore);
    this.#byte(tag);
  }

  #seal(): void {
    if (this.#start === this.#buffer.length) return;
    this.#addPart(Buffer.from(this.#buffer.subarray(this.#start)));
    this.#start = this.#buffer.length;
  }

  #addPart(part: Buffer): void {
    this.#parts.push(part);
    this.#partsBytes += part.length;
  }

  /** False, and nothing is written: it is long, or not ASCII. */
  #writeShort(value: string): boolean {
    const { length } = value;
    if (length > SHORT_CHARACTERS) return false;
    this.#reserve(length);
    const buffer = this.#buffer;
    const start = this.#start - length;
    for (let index = 0; index < length; index += 1) {
      const unit = value.charCodeAt(index);
      if (unit > 0x7f) return false;
      buffer[start + index] = unit;
    }
    this.#start = start;
    return true;
  }

  /** In UTF-8; how many bytes. */
  #writeText(value: string): number {
    const bytes = Buffer.byteLength(value);
    this.#reserve(bytes);
    this.#start -= bytes;
    this.#buffer.write(value, this.#start, "utf8");
    return bytes;
  }

  #byte(value: number): void {
    this.#reserve(1);
    this.#start -= 1;
    this.#buffer[this.#start] = value;
  }

  /** From 0 to 2^32 - 1. */
  #varint(value: number): void {
    let bytes = 1;
    for (let rest = value >>> 7; rest > 0; rest >>>= 7) bytes += 1;
    this.#reserve(bytes);
    this.#start -= bytes;
    let rest = value;
    for (let index = 0; index < bytes - 1; index += 1) {
      this.#buffer[this.#start + index] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    this.#buffer[this.#start + bytes - 1] = rest;
  }

  #reserve(bytes: number): void {
    if (this.#start >= bytes) return;
    const written = this.#buffer.length - this.#start;
    const larger = Buffer.allocUnsafeSlow(2 * (written + bytes) + SCRATCH_BYTES);
    this.#buffer.copy(larger, larger.length - written, this.#start);
    this.#buffer = larger;
    this.#start = larger.length - written;
  }
}
