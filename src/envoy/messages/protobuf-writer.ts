/**
 * Writes the protobuf wire format backwards, from the last field to the first: a length is then known when it is due, and
 * nothing is measured first. Nested: note `at`, write the content, then `close` with what was noted.
 */
const SCRATCH_BYTES = 64 * 1024;

export class ProtobufWriter {
  #buffer: Buffer = Buffer.allocUnsafeSlow(SCRATCH_BYTES);
  /** Everything from here to the end of the buffer is written. */
  #start = SCRATCH_BYTES;

  /** Bytes written so far. */
  get length(): number {
    return this.#buffer.length - this.#start;
  }

  /** A copy of what was written; begins anew. */
  finish(): Buffer {
    const bytes = Buffer.allocUnsafe(this.length);
    this.#buffer.copy(bytes, 0, this.#start);
    if (this.#buffer.length > SCRATCH_BYTES) this.#buffer = Buffer.allocUnsafeSlow(SCRATCH_BYTES);
    this.reset();
    return bytes;
  }

  reset(): void {
    this.#start = this.#buffer.length;
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
    const bytes = Buffer.byteLength(value);
    this.#reserve(bytes);
    this.#start -= bytes;
    this.#buffer.write(value, this.#start, "utf8");
    this.#varint(bytes);
    this.#byte(tag);
  }

  bytes(tag: number, value: Uint8Array): void {
    this.#reserve(value.length);
    this.#start -= value.length;
    this.#buffer.set(value, this.#start);
    this.#varint(value.length);
    this.#byte(tag);
  }

  /** The message that was written since `length` was this. */
  close(tag: number, lengthBefore: number): void {
    this.#varint(this.length - lengthBefore);
    this.#byte(tag);
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
    const written = this.length;
    const larger = Buffer.allocUnsafeSlow(2 * (written + bytes) + SCRATCH_BYTES);
    this.#buffer.copy(larger, larger.length - written, this.#start);
    this.#buffer = larger;
    this.#start = larger.length - written;
  }
}
