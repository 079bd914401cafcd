/**
 * HPACK (RFC 7541): decoding whole, encoding without a state. The peer is told to use no dynamic table; it may use one
 * until it has read that.
 */
import { ConnectionError, ERROR } from "./frames.ts";
import { decodeHuffman } from "./huffman.ts";
import { STATIC_TABLE } from "./static-table.ts";

export type HeaderField = readonly [name: string, value: string];

/** What the peer may use until our SETTINGS are in force. */
const INITIAL_TABLE_BYTES = 4_096;
/** RFC 7541, section 4.1: what an entry counts beside its name and value. */
const ENTRY_OVERHEAD_BYTES = 32;
/** No length or index that we take needs more: five bytes after the prefix already exceed 32 bits. */
const MAX_INTEGER_BYTES = 4;

/** What a block of headers says. */
export interface HeaderBlock {
  readonly fields: readonly HeaderField[];
  /** Over the limit of the list: the fields are not all there. */
  readonly isTooLarge: boolean;
  /** The same bytes always say the same: nothing in them refers to the table or changes it. */
  readonly isStateless: boolean;
}

/** Decodes the header blocks of one connection, in the order in which they come. */
export class HpackDecoder {
  readonly #maxListBytes: number;
  /** Newest first. */
  readonly #table: HeaderField[] = [];
  #tableBytes = 0;
  /** What the peer has chosen, at most what it may. */
  #maxTableBytes = INITIAL_TABLE_BYTES;
  #allowedTableBytes = INITIAL_TABLE_BYTES;
  #bytes: Buffer = Buffer.alloc(0);
  #at = 0;
  #end = 0;
  #isStateless = true;

  constructor(maxListBytes: number) {
    this.#maxListBytes = maxListBytes;
  }

  /** The peer has acknowledged a setting of the table's size. */
  allowTable(bytes: number): void {
    this.#allowedTableBytes = bytes;
    if (this.#maxTableBytes > bytes) this.#resizeTable(bytes);
  }

  /** @throws ConnectionError COMPRESSION_ERROR when the bytes are no header block. */
  decode(bytes: Buffer, start: number, end: number): HeaderBlock {
    this.#bytes = bytes;
    this.#at = start;
    this.#end = end;
    this.#isStateless = true;
    const fields: HeaderField[] = [];
    let listBytes = 0;
    while (this.#at < end) {
      const first = bytes[this.#at] ?? 0;
      if ((first & 0xe0) === 0x20) {
        if (fields.length > 0) throw invalid("a table size update after a field");
        this.#readTableSize();
        continue;
      }
      const field = this.#readField(first);
      listBytes += sizeOf(field);
      // Decoded to its end, since the table must stay what the peer takes it for.
      if (listBytes <= this.#maxListBytes) fields.push(field);
    }
    this.#bytes = Buffer.alloc(0);
    return { fields, isTooLarge: listBytes > this.#maxListBytes, isStateless: this.#isStateless };
  }

  #readField(first: number): HeaderField {
    if ((first & 0x80) !== 0) return this.#fieldAt(this.#readInteger(7));
    const isIndexed = (first & 0x40) !== 0;
    const index = this.#readInteger(isIndexed ? 6 : 4);
    const name = index === 0 ? this.#readText() : this.#fieldAt(index)[0];
    const field = [name, this.#readText()] as const;
    if (isIndexed) this.#addToTable(field);
    return field;
  }

  #fieldAt(index: number): HeaderField {
    const ofStatic = STATIC_TABLE[index - 1];
    if (ofStatic !== undefined) return ofStatic;
    this.#isStateless = false;
    const field = this.#table[index - 1 - STATIC_TABLE.length];
    if (field === undefined) throw invalid(`there is no field ${index}`);
    return field;
  }

  #readTableSize(): void {
    const bytes = this.#readInteger(5);
    if (bytes > this.#allowedTableBytes) throw invalid(`a table of ${bytes} bytes`);
    this.#isStateless = false;
    this.#resizeTable(bytes);
  }

  #resizeTable(bytes: number): void {
    this.#maxTableBytes = bytes;
    this.#evict();
  }

  #addToTable(field: HeaderField): void {
    this.#isStateless = false;
    this.#table.unshift(field);
    this.#tableBytes += sizeOf(field);
    this.#evict();
  }

  #evict(): void {
    while (this.#tableBytes > this.#maxTableBytes) {
      const oldest = this.#table.pop();
      if (oldest === undefined) return;
      this.#tableBytes -= sizeOf(oldest);
    }
  }

  /** RFC 7541, section 5.1. */
  #readInteger(prefixBits: number): number {
    const mask = (1 << prefixBits) - 1;
    let value = this.#readByte() & mask;
    if (value < mask) return value;
    for (let count = 0; count < MAX_INTEGER_BYTES; count += 1) {
      const byte = this.#readByte();
      value += (byte & 0x7f) * 2 ** (7 * count);
      if ((byte & 0x80) === 0) return value;
    }
    throw invalid("an integer out of bounds");
  }

  #readText(): string {
    const isHuffman = ((this.#bytes[this.#at] ?? 0) & 0x80) !== 0;
    const length = this.#readInteger(7);
    const start = this.#at;
    if (length > this.#end - start) throw invalid("a text beyond the end of its block");
    this.#at = start + length;
    if (!isHuffman) return this.#bytes.toString("latin1", start, this.#at);
    const text = decodeHuffman(this.#bytes, start, this.#at);
    if (text === null) throw invalid("a text that is not of the Huffman code");
    return text;
  }

  #readByte(): number {
    if (this.#at >= this.#end) throw invalid("a block that ends within a field");
    const byte = this.#bytes[this.#at] ?? 0;
    this.#at += 1;
    return byte;
  }
}

function sizeOf([name, value]: HeaderField): number {
  return name.length + value.length + ENTRY_OVERHEAD_BYTES;
}

function invalid(what: string): ConnectionError {
  return new ConnectionError(ERROR.compressionError, `the headers hold ${what}`);
}

/** A block that says these fields to every decoder, whatever its state: literals that enter no table. */
export function encodeHeaderBlock(fields: readonly HeaderField[]): Buffer {
  return Buffer.concat(
    fields.flatMap(([name, value]) => [Buffer.from([0]), formatText(name), formatText(value)]),
  );
}

function formatText(text: string): Buffer {
  const bytes = Buffer.from(text, "latin1");
  return Buffer.concat([formatInteger(bytes.length, 7), bytes]);
}

function formatInteger(value: number, prefixBits: number): Buffer {
  const mask = (1 << prefixBits) - 1;
  if (value < mask) return Buffer.from([value]);
  const bytes = [mask];
  let rest = value - mask;
  for (; rest >= 0x80; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  return Buffer.from([...bytes, rest]);
}
