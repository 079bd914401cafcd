/**
 * Writer of the protobuf wire format, backwards from the last field to the first: a length is then known when
 * it is needed, without measuring first. For an inner message: note `length`, write the content, then call
 * `close` with the noted value.
 */
import { asBuffer } from "../../shared/text/as-buffer.ts";

const SCRATCH_BYTES = 64 * 1024;
/**
 * Size above which a value is a part of its own: copying a body of 100 kB twice takes a tenth of its
 * request's cost.
 */
const LARGE_BYTES = 16 * 1024;

/** Length up to which a text is written here, since calling into native code takes longer. */
const SHORT_CHARACTERS = 48;

export class ProtobufWriter {
  #buffer: Buffer = Buffer.allocUnsafeSlow(SCRATCH_BYTES);
  /** Start of the written part of the buffer, which extends to its end. */
  #start = SCRATCH_BYTES;
  /** Parts after the buffer's bytes, last one first. */
  #parts: Buffer[] = [];
  #partsBytes = 0;

  /** Bytes written so far. */
  get length(): number {
    return this.#partsBytes + this.#buffer.length - this.#start;
  }

  /** Returns the parts in order, without copying large values, and resets the writer. */
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

  /** Writes bytes. A large value must not change any more. */
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

  /** Writes the header of the inner message that was written since `length` had this value. */
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

  /** Returns false, without writing, if the text is long or not ASCII. */
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

  /** Writes UTF-8 and returns the number of bytes. */
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

  /** Writes an integer from 0 to 2^32 - 1. */
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
