/**
 * Reader of the protobuf wire format for compiled decoders. Leaves exceptional input (groups, malformed
 * bytes) to the generic decoder: `Unusual` passes the message on to it.
 */
import { TextTable } from "./text-table.ts";

/** Thrown if the compiled decoder does not support the message. */
export class Unusual extends Error {
  override readonly name = "Unusual";
}

export const WIRE = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;

const TEXTS = new TextTable("utf8");

export class ProtobufReader {
  readonly bytes: Buffer;
  at = 0;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  /** Reads up to 32 bits. */
  readUInt32(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.#readByte();
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
    throw new Unusual("a varint of more than 32 bits");
  }

  /** Reads a varint that is false if all its bits are zero. */
  readBoolean(): boolean {
    return this.readUInt32() !== 0;
  }

  /** Reads a signed 64-bit number as decimal text. */
  readInt64(): string {
    const start = this.at;
    let value = 0;
    for (let scale = 1; scale < 2 ** 49; scale *= 128) {
      const byte = this.#readByte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return String(value);
    }
    this.at = start;
    let large = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#readByte();
      large |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return String(BigInt.asIntN(64, large));
    }
    throw new Unusual("a varint of more than 64 bits");
  }

  readDouble(): number {
    const value = this.bytes.readDoubleLE(this.at);
    this.at += 8;
    return value;
  }

  /** Returns the end of the length-delimited value that begins here. */
  readEnd(): number {
    const length = this.readUInt32();
    const end = this.at + length;
    if (end > this.bytes.length) throw new Unusual("a length beyond the end");
    return end;
  }

  /** Returns a view. */
  readBytes(): Buffer {
    const end = this.readEnd();
    const value = this.bytes.subarray(this.at, end);
    this.at = end;
    return value;
  }

  readText(): string {
    const end = this.readEnd();
    const text = TEXTS.read(this.bytes, this.at, end);
    this.at = end;
    return text;
  }

  /** Skips an unused field. */
  skip(tag: number): void {
    const type = tag & 7;
    if (type === WIRE.varint) while (this.#readByte() >= 0x80);
    else if (type === WIRE.bytes) this.at = this.readEnd();
    else if (type === WIRE.fixed64) this.at += 8;
    else if (type === WIRE.fixed32) this.at += 4;
    else throw new Unusual("a group");
  }

  #readByte(): number {
    const byte = this.bytes[this.at];
    if (byte === undefined) throw new Unusual("the message ends within a field");
    this.at += 1;
    return byte;
  }
}

/** Skips a field. A known field number here means that it has an unexpected type. */
export function skip(reader: ProtobufReader, tag: number, known: readonly number[]): void {
  if (known.includes(tag >>> 3)) throw new Unusual("a field of another type");
  reader.skip(tag);
}

/** Checks that a message's last field ended where the message ends. */
export function checkEnd(reader: ProtobufReader, end: number): void {
  if (reader.at !== end) throw new Unusual("a field beyond the end of its message");
}

/** Checks that an inner message occurs once; a second one would have to be merged. */
export function once(before: unknown): void {
  if (before !== undefined) throw new Unusual("a field that comes twice");
}
